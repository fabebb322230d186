package inventory

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"moon/plan/playbook"
)

// varsDir is a directory with group_vars and host_vars in it.
type varsDir struct {
	path  string
	names map[string][]string // what lies in either
	read  map[string][]*Layer // by either and the name of a group or host
}

// openDir returns the directory of a path, of which it is then known what lies in it.
func (inv *Inventory) openDir(path string) *varsDir {
	d := inv.dirs[path]
	if d != nil {
		return d
	}
	d = &varsDir{path: path, names: map[string][]string{}, read: map[string][]*Layer{}}
	inv.dirs[path] = d
	for _, kind := range []string{"group_vars", "host_vars"} {
		// The directory is listed once: most groups and hosts have no file.
		names, err := inv.from.List(filepath.Join(path, kind))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			inv.warnAt(inv.fileStart(filepath.Join(path, kind)), "", "it is not read: %s", reasonOf(err))
		}
		d.names[kind] = names
	}
	return d
}

// readAll reads the variables of all groups and hosts, so that all mistakes are known at once.
func (inv *Inventory) readAll(d *varsDir) {
	for _, g := range inv.Groups {
		inv.readLayers([]*varsDir{d}, "group_vars", g.Name)
	}
	for _, h := range inv.Hosts {
		inv.readLayers([]*varsDir{d}, "host_vars", h.Name)
	}
}

// Beside reads the variables beside another playbook, one that is imported: those are for its plays alone.
func (inv *Inventory) Beside(dir string) {
	if dir != "" && inv.dirs[dir] == nil {
		inv.readAll(inv.openDir(dir))
	}
}

// dirsAround are the directories that count for the plays of a playbook. One that is both counts as the playbook's, and once.
func (inv *Inventory) dirsAround(beside string) (sources, playbook []*varsDir) {
	if beside == "" {
		return inv.sources, nil
	}
	own := inv.openDir(beside)
	return slices.DeleteFunc(slices.Clone(inv.sources), func(d *varsDir) bool { return d == own }), []*varsDir{own}
}

// Layers are all that bring variables to a host in the plays of a playbook which lies in the directory beside, lowest precedence
// first: what the inventory itself says of all and of the host's groups, parents first; group_vars/all, those beside the playbook
// above those beside the inventory; the group_vars of its groups likewise; what the inventory says of the host; its host_vars,
// likewise. The caller does not change them.
func (inv *Inventory) Layers(h *Host, beside string) []*Layer {
	// Cached by playbook directory: imports may lie in several.
	layers, ok := h.layers[beside]
	if !ok {
		sources, playbook := inv.dirsAround(beside)
		layers = slices.Concat(
			inv.ofGroups(h, beside), withoutEmpty([]*Layer{h.inline}), inv.readLayers(sources, "host_vars", h.Name),
			inv.readLayers(playbook, "host_vars", h.Name))
		if h.layers == nil {
			h.layers = map[string][]*Layer{}
		}
		h.layers[beside] = layers
	}
	return layers
}

// ofGroups are the layers that hosts share which are in the same groups.
func (inv *Inventory) ofGroups(h *Host, beside string) []*Layer {
	names := make([]string, len(h.Groups), len(h.Groups)+1)
	for i, g := range h.Groups {
		names[i] = g.Name
	}
	// Names have no zero byte, so the key is unambiguous.
	key := strings.Join(append(names, beside), "\x00")
	if layers, ok := inv.shared[key]; ok {
		return layers
	}
	all := inv.groups["all"]
	layers := []*Layer{all.inline}
	var own []*Group
	for _, g := range h.Groups {
		if g != all {
			own = append(own, g)
			layers = append(layers, g.inline)
		}
	}
	layers = withoutEmpty(layers)
	sources, playbook := inv.dirsAround(beside)
	// As Ansible: all before other groups, and inventories before playbooks.
	for _, groups := range [][]*Group{{all}, own} {
		for _, dirs := range [][]*varsDir{sources, playbook} {
			layers = append(layers, inv.ofFiles(dirs, groups)...)
		}
	}
	inv.shared[key] = slices.Clip(layers)
	return inv.shared[key]
}

func (inv *Inventory) ofFiles(dirs []*varsDir, groups []*Group) (layers []*Layer) {
	for _, d := range dirs {
		for _, g := range groups {
			layers = append(layers, inv.readLayers([]*varsDir{d}, "group_vars", g.Name)...)
		}
	}
	return layers
}

// withoutEmpty leaves out layers without variables.
func withoutEmpty(layers []*Layer) []*Layer {
	return slices.DeleteFunc(layers, func(l *Layer) bool { return len(l.Vars) == 0 })
}

// varsEndings are those of files of variables, in the order in which one is looked for. A directory has none.
var varsEndings = []string{"", ".yml", ".yaml", ".json"}

// readLayers returns the variables of a group or a host in some directories.
func (inv *Inventory) readLayers(dirs []*varsDir, kind, name string) (layers []*Layer) {
	for _, d := range dirs {
		key := kind + "/" + name
		found, ok := d.read[key]
		if !ok {
			found = inv.lookFor(d, kind, name)
			d.read[key] = found
		}
		layers = append(layers, found...)
	}
	return layers
}

// lookFor reads the first that exists of NAME, which may be a directory, NAME.yml and so on.
func (inv *Inventory) lookFor(d *varsDir, kind, name string) []*Layer {
	var there []string
	for _, ending := range varsEndings {
		if _, ok := slices.BinarySearch(d.names[kind], name+ending); ok {
			there = append(there, name+ending)
		}
	}
	if len(there) == 0 {
		return nil
	}
	dir := filepath.Join(d.path, kind)
	// The others would have been read by someone who looks only at them.
	for _, other := range there[1:] {
		inv.warnAt(inv.fileStart(filepath.Join(dir, other)), "put its variables there", "it is not read, because %s is there too",
			filepath.Join(kind, there[0]))
	}
	path := filepath.Join(dir, there[0])
	if isDir, _, err := inv.from.Kind(path); err == nil && isDir {
		return inv.varsTree(path, 0)
	}
	return inv.varsFile(path)
}

// deepest is how deep directories of variables may lie in each other: links can make circles.
const deepest = 20

// varsTree reads a directory of files of variables, in the order of their names.
func (inv *Inventory) varsTree(dir string, depth int) (layers []*Layer) {
	names, err := inv.from.List(dir)
	if err != nil || depth > deepest {
		why := "directories lie too deep in each other"
		if err != nil {
			why = reasonOf(err)
		}
		inv.failAt(inv.fileStart(dir), "", "the directory of variables cannot be read: %s", why)
		return nil
	}
	for _, name := range names {
		// As Ansible, hidden files and backups are skipped.
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		path, ending := filepath.Join(dir, name), filepath.Ext(name)
		isDir, _, err := inv.from.Kind(path)
		switch {
		case err != nil: // a link that leads nowhere
		case isDir && ending == "":
			layers = append(layers, inv.varsTree(path, depth+1)...)
		case !isDir && slices.Contains(varsEndings, ending):
			layers = append(layers, inv.varsFile(path)...)
		}
	}
	return layers
}

func (inv *Inventory) varsFile(path string) []*Layer {
	f, err := inv.from.Read(path)
	if err != nil {
		inv.failAt(inv.fileStart(path), "", "the file of variables cannot be read: %s", reasonOf(err))
		return nil
	}
	f.LastCounts = true
	v, ok := playbook.ParseVars(f, inv.ds)
	if !ok {
		return nil
	}
	v = v.AsPlays()
	if inv.from.Learn != nil {
		inv.from.Learn(f, v)
	}
	l := &Layer{From: f.Name}
	for _, e := range v.Entries() {
		if !e.NoText {
			l.setVar(e.Key, e.Value)
		}
	}
	return withoutEmpty([]*Layer{l})
}
