package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CorePackage is the directory of the Python package `ansible` that is installed here, by which the plugins of ansible-core are found; "" if
// there is none. Nothing is run to find it: the program ansible-playbook in $PATH says which of several is meant.
func CorePackage(home string) string {
	var roots []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		program := filepath.Join(dir, "ansible-playbook")
		if _, err := os.Stat(program); err != nil || !filepath.IsAbs(dir) {
			continue
		}
		// A virtual environment links its program to where it is, and so does pipx.
		if real, err := filepath.EvalSymlinks(program); err == nil {
			roots = append(roots, filepath.Dir(filepath.Dir(real)))
		}
		roots = append(roots, filepath.Dir(dir))
		break
	}
	roots = append(roots, "/usr/local", "/usr", filepath.Join(home, ".local"))
	for _, root := range roots {
		for _, pattern := range []string{"lib/python3*/site-packages/ansible", "lib/python3*/dist-packages/ansible", "lib64/python3*/site-packages/ansible"} {
			found, _ := filepath.Glob(filepath.Join(root, pattern)) // the pattern is right
			slices.Reverse(found)                                   // of several Pythons the newest
			for _, dir := range found {
				if info, err := os.Stat(filepath.Join(dir, "modules")); err == nil && info.IsDir() {
					return dir
				}
			}
		}
	}
	return ""
}

// Where Ansible looks for roles and collections if no setting names other places.
func usualRoles(home string) []string {
	return []string{filepath.Join(home, ".ansible/roles"), "/usr/share/ansible/roles", "/etc/ansible/roles"}
}

func usualCollections(home string) []string {
	return []string{filepath.Join(home, ".ansible/collections"), "/usr/share/ansible/collections"}
}

// pathList takes a list of directories apart, as settings and the environment have them. Relative ones start where resolve says.
func pathList(text string, resolve func(string) string) []string {
	var paths []string
	for path := range strings.SplitSeq(text, ":") {
		if path = strings.TrimSpace(path); path != "" {
			paths = append(paths, resolve(path))
		}
	}
	return paths
}
