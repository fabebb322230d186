package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/plan/playbook"
)

// Files is how an inventory reads the outside world.
type Files struct {
	// Read gives a file with its text decrypted. The error is fs.ErrNotExist if there is none.
	Read func(path string) (*playbook.File, error) // required
	// List gives the sorted names in a directory. The error is fs.ErrNotExist if there is nothing, and another one if it is a file.
	List func(dir string) ([]string, error)                      // required
	Kind func(path string) (dir, executable bool, err error)     // required
	Run  func(path string, args ...string) (out []byte, e error) // an executable inventory; nil: none is started
	// Shown is how a path is shown to people; nil: as it is.
	Shown func(path string) string
	// Learn is given the variables of every file that was read; may be nil.
	Learn func(f *playbook.File, v playbook.Value)
}

// Load reads inventories: files, directories of them, programs, and lists of hosts such as "a,b" or "a,". Paths are absolute. The
// directory beside is the playbook's, or "": its group_vars and host_vars count as well, and more than those beside the inventories.
// What is wrong goes to ds, also later, when hosts are added. The inventory is never nil.
func Load(sources []string, beside string, from Files, ds *diag.List) *Inventory {
	inv := newEmpty()
	inv.from, inv.ds, inv.beside, inv.named = from, ds, beside, sources
	for _, source := range sources {
		if plugin, of, ok := SplitPlugin(source); ok && !fileExists(from, source) {
			pluginReader{inv}.readNamed(source, plugin, of)
			continue
		}
		// A name with a comma may still be a file.
		if IsList(source) && !fileExists(from, source) {
			inv.addList(source)
			continue
		}
		dir := filepath.Dir(source)
		if isDir, _, err := from.Kind(source); err == nil && isDir {
			dir = source
		}
		// The directory of a source may have group_vars, whether it is a file in it or the directory itself.
		inv.readSource(source, true)
		if d := inv.openDir(dir); !slices.Contains(inv.sources, d) {
			inv.sources = append(inv.sources, d)
		}
	}
	inv.completeGroups()
	// Conflicts are known only when all sources are read.
	inv.warnOfConflicts()
	for _, d := range inv.sources {
		inv.readAll(d)
	}
	inv.Beside(beside)
	return inv
}

// Refresh reads the sources again. What steps have added comes on top of what they say, and what steps may still add stays open. Hosts
// and groups that were asked for before are not those of the inventory any more.
func (inv *Inventory) Refresh(from Files) {
	next := Load(inv.named, inv.beside, from, inv.ds)
	for _, dir := range slices.Sorted(maps.Keys(inv.dirs)) {
		next.Beside(dir)
	}
	for _, add := range inv.added {
		add(next)
	}
	// Those who remember the groups ask by this number whether they still hold.
	next.changes, next.Pending = inv.changes+len(inv.added)+1, inv.Pending
	*inv = *next
}

func fileExists(from Files, path string) bool {
	_, _, err := from.Kind(path)
	return err == nil
}

// addList takes hosts that are given by name.
func (inv *Inventory) addList(source string) {
	for name := range strings.SplitSeq(source, ",") {
		if name = strings.TrimSpace(name); name == "" || inv.hosts[name] != nil {
			continue
		}
		address, port := splitPort(name)
		addListed(inv, address, port, source)
	}
}

// addListed takes a host of a list.
func addListed(inv *Inventory, name, port, list string) {
	h := inv.findHost(name, list, diag.Pos{})
	if port != "" {
		h.inline.setVar("ansible_port", playbook.Literal(&playbook.File{Name: "--inventory"}, port, 1, nil))
	}
	addMember(inv.groups["ungrouped"], h)
}

// readSource reads an inventory. One that was named must be there; others were found in a directory.
func (inv *Inventory) readSource(path string, named bool) {
	dir, executable, err := inv.from.Kind(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && named:
		// As with Ansible, the other sources count, and without any there is this machine.
		inv.warnAt(inv.fileStart(path), wayToFile(err), "there is no such inventory, so nothing is read from it")
	case err != nil:
		inv.failAt(inv.fileStart(path), wayToFile(err), "the inventory cannot be read: %s", reasonOf(err))
	case dir:
		inv.readDirectory(path)
	// Files of data may have the executable bit by accident, as on some mounts.
	case executable && !isData(path):
		inv.readProgram(path)
	default:
		inv.readFile(path, named)
	}
}

func reasonOf(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}

func wayToFile(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "a list of hosts needs a comma, as in -i web1, or -i web1,web2"
	}
	return ""
}

// isData reports whether a file is no program, also where everything is executable, as on drives of other systems.
func isData(path string) bool {
	return slices.Contains([]string{".yml", ".yaml", ".json", ".ini"}, filepath.Ext(path))
}

// notInventories are endings of names in a directory that is an inventory: backups, texts, settings.
var notInventories = []string{"~", ".bak", ".orig", ".swp", ".retry", ".cfg", ".ini", ".md", ".rst", ".txt", ".pyc", ".pyo", ".rpm"}

func passedOver(name string) bool {
	switch name {
	case "group_vars", "host_vars", "vars_plugins":
		return true
	}
	return name[0] == '.' || slices.ContainsFunc(notInventories, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

func (inv *Inventory) readDirectory(dir string) {
	names, err := inv.from.List(dir)
	if err != nil {
		inv.failAt(inv.fileStart(dir), "", "the directory of inventories cannot be read: %s", reasonOf(err))
		return
	}
	for _, name := range names {
		if !passedOver(name) {
			inv.readSource(filepath.Join(dir, name), false)
		}
	}
}

// readFile reads an inventory of either kind.
func (inv *Inventory) readFile(path string, named bool) {
	f, err := inv.from.Read(path)
	if err != nil {
		inv.failAt(inv.fileStart(path), "", "the inventory cannot be read: %s", reasonOf(err))
		return
	}
	f.Path = path
	hosts, groups := len(inv.Hosts), len(inv.Groups)
	// An error of this file explains why it has no hosts.
	errors := inv.ds.Count(diag.Error)
	switch {
	case bytes.HasPrefix(f.Text, []byte("#!")):
		inv.failAt(diag.Pos{File: f.Name, Line: 1, Column: 1}, "allow it: chmod +x "+filepath.Base(path),
			"an inventory that is a program must be executable")
		return
	case filepath.Ext(path) == ".toml":
		inv.failAt(diag.Pos{File: f.Name}, "write it as INI or YAML; ansible-inventory --list --yaml prints the latter",
			"inventories in TOML are not read")
		return
	case isYAML(f):
		inv.readYAML(f)
	default:
		inv.readINI(f)
	}
	if named && len(inv.Hosts) == hosts && len(inv.Groups) == groups && inv.ds.Count(diag.Error) == errors && len(inv.Hosts) == 0 {
		inv.warnAt(diag.Pos{File: f.Name}, "", "there are no hosts in this inventory")
	}
}

var yamlStart = pattern.New(`^(?:---|%YAML|\{|(?:"[^"]*"|'[^']*'|[^\s\[\]=#:"']+)\s*:(?:\s|$))`)

// isYAML tells by the name, or by the first line that says anything. INI begins with a section, or with a host.
func isYAML(f *playbook.File) bool {
	switch filepath.Ext(f.Path) {
	case ".yml", ".yaml", ".json":
		return true
	case ".ini":
		return false
	}
	for line := range bytes.Lines(bytes.TrimPrefix(f.Text, []byte("\xef\xbb\xbf"))) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 && line[0] != '#' && line[0] != ';' {
			return yamlStart.Match(line)
		}
	}
	return false
}

// warnOfConflicts warns about names that a host and a group share: in a pattern such a name means the host.
func (inv *Inventory) warnOfConflicts() {
	for _, g := range inv.Groups {
		if h := inv.hosts[g.Name]; h != nil {
			pos := g.Pos
			if pos.IsZero() {
				pos = h.Pos
			}
			inv.warnAt(pos, "give one of them another name", "`%s` is a group and a host; in a pattern it means the host", g.Name)
		}
	}
}

// fileStart is a file as a whole.
func (inv *Inventory) fileStart(path string) diag.Pos {
	if inv.from.Shown != nil {
		path = inv.from.Shown(path)
	}
	return diag.Pos{File: path}
}

func (inv *Inventory) failAt(pos diag.Pos, hint, format string, args ...any) {
	inv.ds.Add(diag.Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (inv *Inventory) warnAt(pos diag.Pos, hint, format string, args ...any) {
	inv.ds.Add(diag.Diagnostic{Severity: diag.Warning, Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}
