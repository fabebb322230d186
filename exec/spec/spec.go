package spec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Kind is the type of a field's value.
type Kind uint8

// The kinds. Text of kind Conditions and Expression is evaluated by the action and never rendered as a template.
// A Path is absolute by the time it is decoded, and so are Paths; text with commas is several. So is the first word of a
// ScriptLine.
const (
	String Kind = iota
	Path
	Bool
	Int
	Duration
	FileMode
	Strings
	Paths
	Map
	Any
	Conditions
	Expression
	Object
	ScriptLine
)

var kindWords = [...]string{
	String: "text", Path: "path", Bool: "true or false", Int: "whole number", Duration: "duration", FileMode: "file mode",
	Strings: "list of texts", Paths: "list of paths", Map: "map", Any: "any value", Conditions: "condition or list of conditions",
	Expression: "expression", Object: "map", ScriptLine: "path, and arguments",
}

// String is the kind in words, for documentation and messages.
func (k Kind) String() string { return kindWords[k] }

// Field is one argument of an action.
type Field struct {
	Name     string
	Aliases  []string
	Kind     Kind
	Required bool
	Default  string // as a person would write it; "" if there is none
	Enum     []string
	Doc      string
	Fields   []Field // of an Object
	URL      bool    // a Path may be a URL instead

	AsIs bool // a Path that plays may write relative to something else than where the task starts: what a link leads to, or a command makes
	JSON bool // a list or map given for it is written as JSON

	Type   string // of a module's argument: what it takes, in words; "": what its kind says
	Secret bool   // its value is not shown
	Hidden bool   // it is taken, and neither listed nor suggested

	index []int             // in the argument struct, or in one embedded there
	fill  bool              // Default is decoded when the field is not given
	same  map[string]string // other spellings of words in Enum
}

// Return is something an action adds to its registered result.
type Return struct {
	Name string
	Doc  string
}

// Action is the declaration of one action.
type Action struct {
	Name     string
	Aliases  []string
	Doc      string
	Free     string // the field that plain text fills: `shell: make`
	FreeList string // the field that a plain list fills: `command: [git, pull]`
	Open     bool   // takes any key: the names are the user's
	Subject  string // the field that names what a step is about, in plans
	Process  string // the field that starts a process, and so uses env and cwd; "*": always one

	Command bool // it is a command of the user's, which may have the terminal (interactive)
	Proxies bool // reaches for the network, and so uses env, where proxies are named
	Inward  bool // touches nothing of the machine: it prints, sets variables, or lets time pass
	Changes bool // a run without error counts as a change unless the step says otherwise
	Check   bool // can tell what it would change without changing it
	Diff    bool // and shows the difference
	Lax     bool // Ansible passes over arguments that it does not have
	Returns []Return
	Dropped []string // arguments that Ansible's module once had, and that ask for nothing
	Least   string   // the shortest step that is valid: "copy: {content: x, dest: /tmp/x}"
	Example string   // a list of steps, which testdata/actions runs

	Plugin *Plugin // where it comes from, if it is not compiled in

	args   reflect.Type
	fields func() []Field
	schema *schema // of a plugin's
}

// Fields returns the action's fields in the order of the reference.
func (a *Action) Fields() []Field { return a.fields() }

// Field finds a field by its name or an alias.
func (a *Action) Field(name string) (*Field, bool) { return findField(a.fields(), name) }

func findField(fields []Field, name string) (*Field, bool) {
	for i := range fields {
		if f := &fields[i]; f.Name == name || slices.Contains(f.Aliases, name) {
			return f, true
		}
	}
	return nil, false
}

// Field finds a field of an object by its name or an alias.
func (f *Field) Field(name string) (*Field, bool) { return findField(f.Fields, name) }

// BuiltinPrefix is how Ansible spells the full name of its own modules.
const BuiltinPrefix = "ansible.builtin."

// StrategyOf is the strategy that a name means. Those of Mitogen go through a play as those that they are called after: they reach hosts in
// another way, which is moon's own here.
func StrategyOf(name string) string {
	if of, ok := strings.CutPrefix(name, "mitogen_"); ok {
		return of
	}
	return strings.TrimPrefix(name, BuiltinPrefix)
}

// LegacyPrefix is the same for those and the modules next to a playbook.
const LegacyPrefix = "ansible.legacy."

// Lookup finds an action by its name or an alias, with or without ansible.builtin in front. The full names of modules that belong to other
// collections are aliases: community.general.pacman.
func Lookup(name string) (*Action, bool) {
	a, ok := byName[strings.TrimPrefix(strings.TrimPrefix(name, BuiltinPrefix), LegacyPrefix)]
	return a, ok
}

// Inward reports whether an action, or what steers a play, touches nothing of the machine.
func Inward(name string) bool {
	a, ok := Lookup(name)
	if !ok {
		a, ok = Steering(name)
	}
	return ok && a.Inward
}

// All returns every action, by name.
func All() []*Action {
	var all []*Action
	for name, a := range byName {
		if name == a.Name {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *Action) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Names returns every name and alias, sorted: what a key of a step may mean.
func Names() []string { return slices.Sorted(maps.Keys(byName)) }

// byName is every action, by its name and by its aliases.
var byName = map[string]*Action{}

// declareAction adds an action to all there are. Each is declared in a file of its own, by a variable without a name.
func declareAction(a *Action) *Action { //nolint:unparam // a variable without a name takes it
	// Reflection over a hundred structs would cost every start some milliseconds.
	a.fields = sync.OnceValue(func() []Field { return fieldsOf(a.args) }) // most runs need few of them
	for _, name := range append([]string{a.Name}, a.Aliases...) {
		if byName[name] != nil {
			panic("spec: two actions are called " + name)
		}
		byName[name] = a
	}
	return a
}

// Commands are the actions that are one.
func Commands() []string {
	var names []string
	for _, a := range All() {
		if a.Command {
			names = append(names, a.Name)
		}
	}
	return names
}
