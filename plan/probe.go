package plan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// looked is what a disk remembers of where plays have looked: a role, a template or a file of variables may be in several places,
// and the first counts. A file that appears in an earlier one makes another plan, as one that goes does.
type looked struct {
	thorough bool // what is not there is remembered too
	planned  bool // the plan is made: a step that runs finds what is there then
	present  map[string]bool
	globs    map[string][]string // the names of the files that match a pattern

	passwords map[string]bool // files that were not there, and that the run will make
}

// lacks remembers that nothing is at a path, if that is what is wrong.
func (d *disk) lacks(path string, err error) {
	if d.thorough && !d.planned && filepath.IsAbs(path) && errors.Is(err, fs.ErrNotExist) {
		d.absent[path] = true
	}
}

// there reports whether anything is at a path.
func (d *disk) there(path string) bool {
	if !d.planned {
		switch {
		case d.present[path], d.files[path] != nil, d.lists[path] != nil:
			return true
		case d.absent[path], d.closed:
			return false
		}
	}
	_, err := os.Stat(path)
	if !d.planned {
		d.lacks(path, err)
		if err == nil {
			d.present[path] = true
		}
	}
	return err == nil
}

// directory reports whether a directory is at a path.
func (d *disk) directory(path string) bool {
	if d.closed {
		return d.present[path]
	}
	info, err := os.Stat(path)
	d.lacks(path, err)
	if err != nil || !info.IsDir() {
		return false
	}
	d.present[path] = true
	return true
}

// glob gives the names of the files in a directory that match a pattern, sorted.
func (d *disk) glob(dir, pattern string) []string {
	key := filepath.Join(dir, pattern)
	if !d.planned {
		if names, ok := d.globs[key]; ok || d.closed {
			return names
		}
	}
	names := globbed(dir, pattern)
	if !d.planned {
		d.globs[key] = names
	}
	return names
}

func globbed(dir, pattern string) []string {
	names := []string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return names // a directory that is not there holds nothing
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); !ok { // a pattern that is none matches nothing
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && !info.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
