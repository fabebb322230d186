package pack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/plan/inventory"
	"moon/plan/source"
)

// baseName is the directory of a pack for what the directory of the playbook was in.
const baseName = "files"

// abs is where a path of the plan was.
func (d *document) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(d.Root, path)
}

// needs are the paths of the files that the run reads and the plan has no text of, but those that hold secrets.
func (d *document) needs() (list []string) {
	for _, r := range d.Sources.Reads {
		switch {
		case r.Secret:
		case !r.Dir:
			list = append(list, d.abs(r.Path))
		}
		for _, e := range r.Entries {
			if source.Kind(e[1]) == source.File {
				list = append(list, filepath.Join(d.abs(r.Path), e[0]))
			}
		}
	}
	members := func(of []spec.Member) {
		for _, m := range of {
			list = append(list, d.abs(m.Path))
		}
	}
	for _, p := range d.Sources.Plugins {
		members(p.Files())
	}
	for _, c := range d.Sources.Callees {
		members(c.Files())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// used are all paths that the plan was made from or the run reads.
func (d *document) used() []string {
	list := d.needs()
	for _, f := range d.Sources.Files {
		if f.Path != "-" {
			list = append(list, d.abs(f.Path))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// isHere reports whether all that the job needs is where it was submitted.
func (d *document) isHere(places source.Moved) bool {
	if d.Sources.Playbook == "-" {
		return false
	}
	return !slices.ContainsFunc(d.used(), func(path string) bool {
		_, err := os.Stat(path)
		return err != nil && places.Here(path) != path
	})
}

// secrets refuses a job whose files with secrets would have to be in a directory that is made for it, before anything of it has run.
func (d *document) secrets(places source.Moved) error {
	refuse := func(path, why string) error {
		return fmt.Errorf("%s %s, so it was not submitted: a worker can run the job only if it has the playbook in %s", path, why, d.Root)
	}
	for _, f := range d.Sources.Files {
		moved := places.Here(d.abs(f.Path)) != d.abs(f.Path) && f.Path != "-"
		switch {
		case moved && f.Secret:
			return refuse(f.Path, "holds secrets")
		case moved && f.Text == nil && f.Bytes == nil:
			return refuse(f.Path, "has a step with no_log")
		}
	}
	for _, r := range d.Sources.Reads {
		if r.Secret && places.Here(d.abs(r.Path)) != d.abs(r.Path) {
			return refuse(r.Path, "holds secrets")
		}
	}
	return nil
}

// places are the directories that a machine may have elsewhere, and their names in a pack. The first has that of the playbook, and as far as
// possible all else: a playbook names what is next to its directory by ../. What is in none of them is named by the playbook itself, as an
// absolute path, and must be there.
func (d *document) places() source.Moved {
	base, far := d.Root, []string{}
	used := d.used()
	slices.SortFunc(used, func(a, b string) int {
		return strings.Count(common(d.Root, b), "/") - strings.Count(common(d.Root, a), "/")
	})
	for _, path := range used {
		switch to := common(base, filepath.Dir(path)); {
		case to == base:
		case to != "/" && !d.names(to):
			base = to
		default:
			far = append(far, path)
		}
	}
	places := source.Moved{{From: base, To: baseName}}
	for _, path := range far {
		if places.Here(path) != path {
			continue
		}
		if dir := d.searched(path); dir != "" {
			places = append(places, source.Move{From: dir, To: fmt.Sprintf("more%02d", len(places))})
		}
	}
	return places
}

// common is the directory that two have in common.
func common(a, b string) string {
	for b != a && !strings.HasPrefix(a, strings.TrimSuffix(b, "/")+"/") {
		b = filepath.Dir(b)
	}
	return b
}

// names reports whether the playbook names something in a directory by its absolute path, or may do so by ~.
func (d *document) names(dir string) bool {
	if home := d.Sources.Home; home != "" && common(dir, home) == dir {
		return true
	}
	for _, f := range d.Sources.Files {
		if f.Text != nil && strings.Contains(*f.Text, dir+"/") {
			return true
		}
	}
	return slices.ContainsFunc(d.Sources.ExtraVars, func(v string) bool { return !strings.HasPrefix(v, "@") && strings.Contains(v, dir+"/") })
}

// searched is the directory that a path is in, of those that flags and settings name: the outermost, as they may be in one another. Of files
// that flags name it is the path itself.
func (d *document) searched(path string) (dir string) {
	plays := &d.Sources.Plays
	list := slices.Concat(plays.RolesPath, plays.ModulePath, plays.Collections, d.Sources.VarsFiles)
	for _, v := range d.Sources.ExtraVars {
		if file, is := strings.CutPrefix(v, "@"); is {
			list = append(list, file)
		}
	}
	for _, written := range plays.Inventory {
		if !inventory.IsPath(written) {
			continue
		}
		// What is next to a file of hosts belongs to it: group_vars and host_vars.
		if list = append(list, written); plays.Lists[written] == nil {
			list = append(list, filepath.Dir(written))
		}
	}
	if plays.Core != "" {
		list = append(list, filepath.Dir(plays.Core))
	}
	for _, one := range list {
		one = d.abs(one)
		if in := common(one, path); in == one && one != "/" && (dir == "" || len(one) < len(dir)) {
			dir = one
		}
	}
	return dir
}
