package feature

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"moon/exec/spec"
	"moon/internal/lsp/index"
	"moon/internal/lsp/wire"
	"moon/plan/playbook"
	"moon/plan/source"
)

// Complete lists what may stand at the site.
func (s *Site) Complete() wire.Items {
	around := surround(s.Text, s.Offset)
	c := &completion{site: s, around: around, items: []wire.Item{}, seen: map[string]bool{}}
	c.from = s.Offset - len(around.prefix)
	m := interpret(&s.Page, around)
	switch {
	case around.template:
		c.from, _ = s.Text.Word(s.Offset)
		c.addVariables()
	case m.form == names:
		c.addNames(m.list)
	case around.at:
		c.addKeys(m)
	default:
		c.addValues(m)
	}
	sort.SliceStable(c.items, func(i, j int) bool { return c.items[i].Sort < c.items[j].Sort })
	return wire.Items{Items: c.items}
}

// completion gathers items.
type completion struct {
	site   *Site
	around *surroundings
	from   int // where the word begins that is completed
	items  []wire.Item
	seen   map[string]bool
}

// add adds an item. rank orders kinds of items: what is likelier comes first.
func (c *completion) add(kind int, label, detail, doc, insert string, rank byte) {
	if c.seen[label] || label == "" {
		return
	}
	c.seen[label] = true
	item := wire.Item{Label: label, Kind: kind, Detail: detail, Sort: string(rank) + label}
	if doc != "" {
		text := wire.Markdown(doc)
		item.Doc = &text
	}
	item.Edit = &wire.TextEdit{Range: c.site.Text.Range(c.from, c.site.Offset), NewText: insert}
	c.items = append(c.items, item)
}

// addKeys lists the keys and actions that may stand here and do not yet.
func (c *completion) addKeys(m meaning) {
	kind, known := m.kindOf(c.around.siblings)
	// Behind the word there may be a colon already.
	ending := ": "
	if rest := c.site.Text.String()[c.site.Offset:]; strings.HasPrefix(strings.TrimLeft(rest, wordCharacters), ":") {
		ending = ""
	}
	has := func(k documented) bool {
		return slices.Contains(c.around.siblings, k.name) ||
			slices.ContainsFunc(k.aliases, func(a string) bool { return slices.Contains(c.around.siblings, a) })
	}
	for _, k := range m.keysOf(kind, known) {
		if !has(k) {
			c.add(wire.ItemField, k.name, "", k.doc, k.name+ending, 'a')
		}
	}
	if m.form == roleEntry {
		c.addRoles()
	}
	if m.form != step || known {
		return
	}
	for _, k := range m.directivesOf() {
		c.add(wire.ItemKeyword, k.name, "", k.doc, k.name+ending, 'b')
	}
	for _, a := range spec.All() {
		c.add(wire.ItemFunction, a.Name, "action", actionDoc(a), a.Name+ending, 'c')
		for _, alias := range a.Aliases { // plays are written with the names that Ansible has
			if m.plays && !strings.Contains(alias, ".") {
				c.add(wire.ItemFunction, alias, "action "+a.Name, actionDoc(a), alias+ending, 'd')
			}
		}
	}
	for _, b := range c.site.Books {
		if b.Plan == nil || b.Plan.Basis == nil || b.Plan.Basis.O.Plugins == nil {
			continue
		}
		for _, name := range b.Plan.Basis.O.Plugins.Names() {
			c.add(wire.ItemFunction, name, "action of a plugin", "", name+ending, 'd')
		}
	}
}

// wordCharacters are those that keys and actions are made of.
const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

// addValues lists what may stand behind a key.
func (c *completion) addValues(m meaning) {
	key := c.around.key
	if m.form == arguments {
		if f := fieldNamed(m.fields, key); f != nil {
			c.addChoices(f)
			if f.Kind == spec.Path && (key == "src" || key == "file") {
				c.addFiles(source.SourceDirs[m.action.Name])
			}
			if strings.HasSuffix(m.action.Name, "role") && key == "name" {
				c.addRoles()
			}
		}
		return
	}
	switch key {
	case "needs", "notify", "vars_files":
		c.addNames(key)
	case "include", "include_tasks", "import_tasks":
		c.addFiles("tasks")
	case "import_playbook":
		c.addFiles("")
	case "include_vars":
		c.addFiles("vars")
	case "role", "include_role", "import_role":
		c.addRoles()
	case "name":
		if n := len(c.around.path); n > 0 && (c.around.path[n-1] == "include_role" || c.around.path[n-1] == "import_role") {
			c.addRoles()
		}
	case "when", "changed_when", "failed_when", "until", "with_items", "loop":
		c.addVariables()
	default:
		c.addWords(m, key)
	}
}

// addChoices lists the values that an argument may have.
func (c *completion) addChoices(f *spec.Field) {
	for _, word := range f.Enum {
		detail := ""
		if word == f.Default {
			detail = "default"
		}
		c.add(wire.ItemValue, word, detail, "", word, 'a')
	}
	if f.Kind == spec.Bool {
		c.addBooleans()
	}
}

func (c *completion) addBooleans() {
	for _, word := range []string{"true", "false"} {
		c.add(wire.ItemValue, word, "", "", word, 'a')
	}
}

// words are the values of keys that have few.
var words = map[string][]string{
	"strategy": {"linear", "graph"}, "approve": {"expanded"}, "orphans": {"keep", "remove", "forget"}, "become_method": {
		"sudo",
		"su", "doas",
	},
	"order": {"inventory", "sorted", "reverse_inventory", "reverse_sorted"}, "connection": {"ssh", "local"},
}

func (c *completion) addWords(m meaning, key string) {
	for _, word := range words[key] {
		c.add(wire.ItemValue, word, "", "", word, 'a')
	}
	if m.form == play && key == "strategy" {
		c.add(wire.ItemValue, "free", "", "", "free", 'a')
	}
	boolean := []string{
		"gather_facts", "any_errors_fatal", "ignore_unreachable", "force_handlers", "run_once", "become", "check_mode", "diff", "no_log",
		"ignore_errors", "interactive", "create_before", "parallel", "delegate_facts", "confirm",
	}
	if (m.form == step || m.form == play || m.form == document) && slices.Contains(boolean, key) {
		c.addBooleans()
	}
	if a, ok := spec.Lookup(key); ok && m.form == step && a.Free != "" {
		if f, ok := a.Field(a.Free); ok {
			c.addChoices(f)
		}
	}
}

// addNames lists what a list of names may have.
func (c *completion) addNames(list string) {
	kind := map[string]index.Kind{"needs": index.ID, "notify": index.Handler, "listen": index.Handler}
	if list == "vars_files" {
		c.addFiles("vars")
		return
	}
	if list == "notify" { // the names of handlers have spaces
		line := linePrefix(c.site.Text, c.site.Offset)
		at := strings.LastIndexAny(line, "[,:")
		if trimmed := strings.TrimLeft(line, " "); at < 0 && strings.HasPrefix(trimmed, "- ") {
			at = strings.Index(line, "-")
		}
		c.from = c.site.Offset - len(strings.TrimLeft(line[at+1:], " "))
	}
	for _, b := range c.site.Books {
		for name, about := range b.Index.Names(kind[list]) {
			c.add(wire.ItemEvent, name, about, "", name, 'a')
		}
	}
}

// addVariables lists the variables that are defined anywhere, and those that the steps here can look up.
func (c *completion) addVariables() {
	c.from, _ = c.site.Text.Word(c.site.Offset)
	for _, b := range c.site.Books {
		for name, about := range b.Index.Names(index.Variable) {
			c.add(wire.ItemVariable, name, about, "", name, 'a')
		}
		if b.Plan != nil {
			for _, v := range b.Plan.Vars {
				c.add(wire.ItemVariable, v.Name, v.From, quote(b, v.Value), v.Name, 'a')
			}
		}
		line, _ := c.site.Text.Place(c.site.Offset)
		if t := b.Index.TaskAt(c.site.Path, line); t != nil && t.Loop.Kind != playbook.NoLoop {
			c.add(wire.ItemVariable, t.Loop.Var, "item of the loop", "", t.Loop.Var, 'a')
			c.add(wire.ItemVariable, t.Loop.Index, "number of the item", "", t.Loop.Index, 'a')
		}
		for _, step := range c.site.steps(b) {
			if step.Frame == nil {
				continue
			}
			for _, name := range step.Frame.Names() {
				c.add(wire.ItemVariable, name, "", "", name, 'b')
			}
			break // what one of them sees the others see too
		}
		for _, name := range b.Facts {
			c.add(wire.ItemVariable, name, "fact", "", name, 'c')
		}
	}
}

// addRoles lists the roles that can be found from here.
func (c *completion) addRoles() {
	seen := map[string]bool{}
	for _, b := range c.site.Books {
		dirs := []string{filepath.Join(b.Root, "roles")}
		if b.Plan != nil && b.Plan.Basis != nil {
			dirs = append(dirs, b.Plan.Basis.O.RolesPath...)
		}
		for _, dir := range dirs {
			for _, name := range namesIn(dir) {
				if isDirectory(filepath.Join(dir, name)) && !seen[name] {
					seen[name] = true
					c.add(wire.ItemModule, name, "role", "", name, 'a')
				}
			}
		}
	}
}

// mostFiles is how many names of a directory are offered.
const mostFiles = 500

func namesIn(dir string) (names []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()                      //nolint:errcheck // only read
	names, _ = f.Readdirnames(mostFiles) // what can be read is offered
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") })
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// addFiles lists files whose names begin as the word does: next to this file, and in the directory of the role or playbook for their kind.
func (c *completion) addFiles(kind string) {
	below, _ := filepath.Split(c.around.prefix)
	dirs := []string{filepath.Dir(c.site.Path)}
	if kind != "" {
		dirs = append(dirs, filepath.Join(dirs[0], kind), filepath.Join(filepath.Dir(dirs[0]), kind))
	}
	if strings.HasPrefix(below, "/") {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		for _, name := range namesIn(filepath.Join(dir, below)) {
			full := filepath.Join(dir, below, name)
			if full == c.site.Path {
				continue
			}
			if isDirectory(full) {
				name += "/"
			}
			c.add(wire.ItemFile, below+name, "", "", below+name, 'a')
		}
	}
}
