package app

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"moon/exec/spec"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/inventory"
)

// AnsibleSettings are what moon takes from an ansible.cfg. Everything else there is passed over.
type AnsibleSettings struct {
	File      string   // it was read from; "": there is none
	Inventory []string // absolute paths, and lists of hosts
	RolesPath []string // absolute; nil: no setting names them

	CollectionsPath []string // absolute; nil: no setting names them

	values, places map[string]string // by section.name: what each setting is, and where it stands
	supplied       bool              // the file was found in the directory of the call: it may have come with a playbook
	inventoryLine  int
}

// InventoryPaths is what the settings name, which must be there.
func (s AnsibleSettings) InventoryPaths() ([]string, error) {
	for _, source := range s.Inventory {
		if _, err := os.Stat(source); inventory.IsPath(source) && errors.Is(err, fs.ErrNotExist) {
			return nil, Usage("%s:%d: inventory: there is no file or directory %s", s.File, s.inventoryLine, source)
		}
	}
	return s.Inventory, nil
}

// Supplied is the name of the file, if it may have come with a playbook: the user has not named it. It is "" otherwise.
func (s AnsibleSettings) Supplied() string {
	if !s.supplied {
		return ""
	}
	return termtext.CleanName(filepath.Base(s.File))
}

// AnsibleConfig reads $ANSIBLE_CONFIG, which may be a directory with an ansible.cfg, or else the ansible.cfg of the directory, that of the
// home or that of the machine, the first that is there. One in a directory that every user may write to is passed over, as Ansible does:
// any of them could have put it there.
func AnsibleConfig(dir string) (AnsibleSettings, error) {
	var set AnsibleSettings
	file := os.Getenv("ANSIBLE_CONFIG")
	named := file != ""
	if !named {
		file, set.supplied = usualSettings(dir)
		if file == "" {
			return set, nil
		}
	} else if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "ansible.cfg")
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return set, err
	}
	// One that is named may be <(command). Opening a pipe that lies in the directory would wait for someone to write to it.
	if info, err := os.Stat(file); err == nil && !named && !info.Mode().IsRegular() {
		return set, Usage("Ansible's settings cannot be read: %s is not a regular file", file)
	}
	text, err := readFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return set, nil
	case err != nil:
		return set, Usage("Ansible's settings cannot be read: %s", err)
	case len(text) > maxPassword:
		return set, Usage("Ansible's settings cannot be read: %s is larger than %d KiB", file, maxPassword>>10)
	}
	all, lines, err := iniSettings(file, text)
	if err != nil {
		return set, err
	}
	set.values, set.places = all, map[string]string{}
	for name, line := range lines {
		set.places[name] = fmt.Sprintf("%s:%d: %s", file, line, name)
	}
	values := map[string]string{}
	for name, value := range all {
		if name, ok := strings.CutPrefix(name, "defaults."); ok {
			values[name] = value
		}
	}
	set.File, set.inventoryLine = file, lines["defaults.inventory"]
	for path := range strings.SplitSeq(values["inventory"], ",") {
		if path = strings.TrimSpace(path); path != "" {
			inFile := func(path string) string { return settingPath(file, path) }
			set.Inventory = append(set.Inventory, inventory.Resolve(path, inFile, pathExists))
		}
	}
	if strings.HasSuffix(strings.TrimSpace(values["inventory"]), ",") { // a list of hosts, as for -i
		set.Inventory = []string{values["inventory"]}
	}
	inFile := func(path string) string { return settingPath(file, path) }
	set.RolesPath = pathList(values["roles_path"], inFile)
	set.CollectionsPath = pathList(cmp.Or(values["collections_path"], values["collections_paths"]), inFile)
	return set, nil
}

// SearchPaths are the directories in which roles and collections are looked for, behind those next to the playbook: of the environment,
// of the settings, or those that Ansible has without any. Relative paths of the environment start in dir.
func (s AnsibleSettings) SearchPaths(dir, home string) (roles, collections []string) {
	here := func(path string) string { return settingPath(filepath.Join(dir, "ansible.cfg"), path) }
	roles, collections = s.RolesPath, s.CollectionsPath
	if set := os.Getenv("ANSIBLE_ROLES_PATH"); set != "" {
		roles = pathList(set, here)
	}
	if set := cmp.Or(os.Getenv("ANSIBLE_COLLECTIONS_PATH"), os.Getenv("ANSIBLE_COLLECTIONS_PATHS")); set != "" {
		collections = pathList(set, here)
	}
	if roles == nil {
		roles = usualRoles(home)
	}
	if collections == nil {
		collections = usualCollections(home)
	}
	return roles, collections
}

// PluginPaths are the directories of modules, their libraries, filters, tests and lookups that the environment or the settings name, or
// those that Ansible has without any. Relative paths of the environment start in dir.
func (s AnsibleSettings) PluginPaths(dir, home string) plan.PluginPaths {
	var brought []string
	paths := func(setting, usual string) []string {
		if set := os.Getenv("ANSIBLE_" + strings.ToUpper(setting)); set != "" {
			return pathList(set, func(path string) string { return settingPath(filepath.Join(dir, "ansible.cfg"), path) })
		}
		if set := s.values["defaults."+setting]; set != "" {
			list := pathList(set, func(path string) string { return settingPath(s.File, path) })
			if s.supplied {
				brought = append(brought, list...)
			}
			return list
		}
		return []string{filepath.Join(home, ".ansible/plugins", usual), filepath.Join("/usr/share/ansible/plugins", usual)}
	}
	p := plan.PluginPaths{
		Library: paths("library", "modules"), Utils: paths("module_utils", "module_utils"), Callees: map[string][]string{},
	}
	for _, kind := range []string{spec.CalleeFilter, spec.CalleeTest, spec.CalleeLookup, spec.CalleeInventory, spec.CalleeAction} {
		p.Callees[kind] = paths(kind+"_plugins", kind)
	}
	p.Brought = brought
	return p
}

// usualSettings is the file of settings that Ansible takes if none is named, and whether it is in the directory of the call.
func usualSettings(dir string) (file string, supplied bool) {
	file = filepath.Join(dir, "ansible.cfg")
	info, err := os.Stat(dir)
	if _, missing := os.Stat(file); err == nil && missing == nil && info.Mode().Perm()&0o002 == 0 {
		return file, true
	}
	home, _ := os.UserHomeDir() // without one there is none in it
	for _, file := range []string{filepath.Join(home, ".ansible.cfg"), "/etc/ansible/ansible.cfg"} {
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() {
			return file, false
		}
	}
	return "", false
}

// settingPath is a path in a file of settings: relative to the file, with ~ and {{CWD}}, and variables of the environment.
func settingPath(file, path string) string {
	if cwd, err := os.Getwd(); err == nil {
		path = strings.ReplaceAll(path, "{{CWD}}", cwd)
	}
	path = os.ExpandEnv(path)
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil {
			path = home + rest
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.Clean(path)
}

// iniSettings are the settings of a file by section.name, and the lines they are on. Indented lines continue the one before. What is no
// setting is refused as Ansible refuses it: what is before the first section, or there twice.
func iniSettings(file string, text []byte) (values map[string]string, places map[string]int, err error) {
	values, places = map[string]string{}, map[string]int{}
	sections, settings := map[string]int{}, map[string]int{}
	section, key := "", ""
	lines := bufio.NewScanner(bytes.NewReader(text))
	n := 0
	fail := func(format string, args ...any) (map[string]string, map[string]int, error) {
		return nil, nil, Usage("%s:%d: "+format, append([]any{file, n}, args...)...)
	}
	for lines.Scan() {
		n++
		line := lines.Text()
		content := strings.TrimSpace(line)
		switch {
		case content == "" || content[0] == '#' || content[0] == ';':
			continue
		case content[0] == '[' && strings.HasSuffix(content, "]"):
			section, key = content[1:len(content)-1], ""
			if first := sections[section]; first != 0 {
				return fail("section [%s] is there twice, first in line %d", section, first)
			}
			sections[section] = n
			clear(settings)
			continue
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			values[section+"."+key] += "\n" + content
			continue
		}
		at := strings.IndexAny(content, "=:")
		switch {
		case at <= 0:
			return fail("a setting is name = value")
		case len(sections) == 0:
			return fail("a setting before the first section, such as [defaults]")
		}
		key = strings.ToLower(strings.TrimSpace(content[:at]))
		if first := settings[key]; first != 0 {
			return fail("setting %s is there twice in [%s], first in line %d", key, section, first)
		}
		settings[key] = n
		value, _, _ := strings.Cut(content[at+1:], " ;") // # does not begin a comment here
		values[section+"."+key], places[section+"."+key] = strings.TrimSpace(value), n
	}
	if err := lines.Err(); err != nil {
		n++
		return fail("%s", err)
	}
	return values, places, nil
}
