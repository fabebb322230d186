package config

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// The names of the files.
const (
	Name        = "config.yaml"
	ProjectName = ".moon.yaml"
)

// markers are what the root of a repository has.
var markers = []string{".git", ".jj", ".hg", ".svn"}

// FindProject gives the files of settings that count for a playbook in a directory, the weakest first: those from the root of its
// repository down to it. Outside of a repository only the directory itself counts: what lies above belongs to something else. foreign are
// files that count for nothing, as others than the user and the owner of the playbook could have put them there.
func FindProject(dir string) (files, foreign []string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil { // trust is by path
		dir = real
	}
	top := rootOf(dir)
	for at := dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, ProjectName)
		if info, err := os.Stat(path); err == nil {
			if ownedAs(dir, at, info) {
				files = append(files, path)
			} else {
				foreign = append(foreign, path)
			}
		}
		if at == top || at == filepath.Dir(at) {
			break
		}
	}
	slices.Reverse(files)
	return files, foreign
}

// rootOf is the root of the repository that a directory is in; the directory itself if it is in none.
func rootOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, marker := range markers {
			if _, err := os.Lstat(filepath.Join(at, marker)); err == nil {
				return at
			}
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// ownedAs reports whether a file in a directory can only have come from the user, from root, or from the owner of the directory of the
// playbook.
func ownedAs(playbooks, dir string, file os.FileInfo) bool {
	const others = 0o002
	in, err := os.Stat(dir)
	if err != nil || in.Mode().Perm()&others != 0 || file.Mode().Perm()&others != 0 {
		return false
	}
	uid, known := ownerOf(file)
	if !known || uid == 0 || int(uid) == os.Getuid() {
		return known
	}
	own, err := os.Stat(playbooks)
	if err != nil {
		return false
	}
	owner, known := ownerOf(own)
	return known && owner == uid
}

func ownerOf(info os.FileInfo) (uid uint32, known bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return s.Uid, true
}
