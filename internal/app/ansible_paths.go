package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/plan"
)

// CoreVariable is the environment variable that names the directory of the Python package `ansible`, or says that it is not used: "none".
const CoreVariable = "MOON_ANSIBLE_CORE"

// CorePackage is the directory of the Python package `ansible` that is installed here, by which modules and plugins of ansible-core are
// found; "" if there is none. Nothing is run to find it: the program ansible-playbook in $PATH says which of several is meant.
func CorePackage(home string) (string, error) {
	switch named := os.Getenv(CoreVariable); {
	case named == "none":
		return "", nil
	case named != "" && (!filepath.IsAbs(named) || !isCore(named)):
		return "", Usage("%s: %s is not the directory of an installed Python package `ansible`", CoreVariable, named)
	case named != "":
		return named, nil
	}
	for _, root := range append(coreRoots(), "/usr/local", "/usr", filepath.Join(home, ".local")) {
		for _, pattern := range []string{
			"lib/python3*/site-packages/ansible", "lib/python3*/dist-packages/ansible", "lib64/python3*/site-packages/ansible",
		} {
			found, _ := filepath.Glob(filepath.Join(root, pattern)) // the pattern is right
			slices.Reverse(found)                                   // of several Pythons the newest
			if i := slices.IndexFunc(found, isCore); i >= 0 {
				return found[i], nil
			}
		}
	}
	return "", nil
}

func isCore(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "modules"))
	return err == nil && info.IsDir()
}

// coreRoots are where the Python of the program ansible-playbook has its packages, if it is the one of the program's own directory.
func coreRoots() []string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		program := filepath.Join(dir, "ansible-playbook")
		if _, err := os.Stat(program); err != nil || !filepath.IsAbs(dir) {
			continue
		}
		roots := []string{filepath.Dir(dir)}
		// A virtual environment links its program to where it is, and so does pipx.
		if real, err := filepath.EvalSymlinks(program); err == nil {
			roots = []string{filepath.Dir(filepath.Dir(real)), filepath.Dir(dir)}
		}
		return roots
	}
	return nil
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

// SearchAnsible reads the settings of Ansible, and says where its roles, collections and modules are.
func SearchAnsible(o *plan.Options) (set AnsibleSettings, err error) {
	if set, err = AnsibleConfig(o.Dir); err != nil {
		return set, err
	}
	o.Mode.ConfigFile = set.File
	o.RolesPath, o.Collections = set.SearchPaths(o.Dir, o.Home)
	o.PluginPaths = set.PluginPaths(o.Dir, o.Home)
	if o.Core, err = CorePackage(o.Home); o.Core != "" { // an installed package ansible brings collections next to it
		o.Collections = append(o.Collections, filepath.Dir(o.Core))
	}
	return set, err
}
