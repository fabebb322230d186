package source

import (
	"path/filepath"
	"strings"
)

// Search finds what a task copies: in the role, beside the file, beside the playbook.
type Search struct {
	dirs []string
	disk *Disk

	Missed bool // something was looked for that is in none of them: an earlier step may make it, in any of them
}

// NewSearch looks in these directories, in this order.
func NewSearch(dirs []string, d *Disk) *Search { return &Search{dirs: dirs, disk: d} }

// SourceDirs are where the actions look for what they copy.
var SourceDirs = map[string]string{
	"template": "templates", "copy": "files", "script": "files", "unarchive": "files", "patch": "files", "assemble": "files",
	"synchronize": "files",
}

// Find is the path of a file that a task names.
func (s *Search) Find(name, home string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return ResolvePath(name, s.dirs[0], home)
	}
	return s.find(name, s.dirs[0], home)
}

func (s *Search) find(name, otherwise, home string) string {
	for _, dir := range s.dirs {
		if path := ResolvePath(name, dir, home); s.disk.There(path) {
			return path
		}
	}
	s.Missed = true
	return ResolvePath(name, otherwise, home)
}

// Own is a path of something that is here and need not be there yet: where it is found, or next to the play. What names a machine itself,
// as host:path, stays what it is; so does what is absolute, where /./ may mean something.
func (s *Search) Own(name, base, home string) string {
	switch {
	case filepath.IsAbs(name), strings.Contains(name, ":"):
		return name
	case s == nil, strings.HasPrefix(name, "~"):
		return ResolvePath(name, base, home)
	}
	return s.find(name, base, home)
}
