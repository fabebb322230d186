package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"moon/exec/spec/documented"
)

// Plugin is where an action comes from that is not compiled in, and what it says of itself. It is plain data: plans keep it,
// and jobs carry it to whoever runs them.
type Plugin struct {
	Action  string          `json:"action"`            // the name of the action; required
	Name    string          `json:"name"`              // how the plugin calls itself
	Version string          `json:"version,omitempty"` // its own
	Path    string          `json:"path,omitempty"`    // of its file, absolute; "" for a module that is installed with Ansible
	Digest  string          `json:"digest,omitempty"`  // SHA-256 of the file
	Program []string        `json:"program,omitempty"` // what runs the file, and its options; nothing: the file is a program
	Speaks  Speech          `json:"speaks"`            // required
	Where   string          `json:"where,omitempty"`   // OnTarget or OnController; "" is OnTarget
	Check   string          `json:"check,omitempty"`   // full: it can say what it would change; anything else: it cannot
	Diff    bool            `json:"diff,omitempty"`    // and shows the difference
	Doc     string          `json:"doc,omitempty"`
	Free    string          `json:"free,omitempty"` // the argument that plain text fills
	Schema  json.RawMessage `json:"schema,omitempty"`
	Returns map[string]any  `json:"returns,omitempty"` // a JSON Schema, or a text for each name
	Looks   bool            `json:"looks,omitempty"`   // it gives facts and does nothing else

	// Of a module in Python.
	Module     string             `json:"module,omitempty"`      // its full name there
	Members    []Member           `json:"members,omitempty"`     // its own file, and what it imports of Ansible's libraries and collections
	Pack       string             `json:"pack,omitempty"`        // digest of these, as they run
	Documented *documented.Module `json:"documented,omitempty"`  // nil: it takes any arguments
	GivesFacts bool               `json:"gives_facts,omitempty"` // its text says that it gives facts
	Brought    bool               `json:"brought,omitempty"`     // it came with the playbook
	Untrusted  bool               `json:"untrusted,omitempty"`   // and no one has said that it may run
	Acting     *Callee            `json:"acting,omitempty"`      // its action plugin, which does the work and has the module do what it likes; may be nil
}

// Files are the files whose text runs: its own, or all that are packed, and those of its action plugin.
func (p *Plugin) Files() []Member {
	files := p.Members
	if len(files) == 0 && p.Path != "" {
		files = []Member{{Path: p.Path, Digest: p.Digest, Brought: p.Brought}}
	}
	if p.Acting != nil {
		files = slices.Concat(files, p.Acting.Files())
	}
	return files
}

// Where a plugin runs: on the machine that a step is about, or where moon runs.
const (
	OnTarget     = "target"
	OnController = "controller"
)

// CheckFull is the Check of a plugin that can predict.
const CheckFull = "full"

// PluginArgs are the arguments of any plugin's action.
type PluginArgs struct {
	Plugin *Plugin
	Values map[string]any
}

// From says in a few words where the action comes from. shown words its path.
func (p *Plugin) From(shown func(path string) string) string {
	switch {
	case p.Speaks == SpeaksPython && p.Brought:
		return "via Python, from " + shown(p.Path)
	case p.Speaks == SpeaksPython:
		return "via Python"
	}
	return "from " + shown(p.Path)
}

// TitleOf is what stands for the name of a step without one: the summary, which for a module in Python has only the arguments, and so
// says nothing without the module. Where that is from is said elsewhere.
func (a *Action) TitleOf(summary string) string {
	if a == nil || a.Plugin == nil || a.Plugin.Speaks != SpeaksPython || summary == "" {
		return summary
	}
	module := a.Name[strings.LastIndexByte(a.Name, '.')+1:]
	args, _, cut := strings.Cut(summary, " (via Python")
	if !cut || args == a.Name || args == module {
		return module
	}
	return module + ": " + args
}

// Fact is the fact that has what the plugin finds, if that is what it does.
func (p *Plugin) Fact() string { return strings.NewReplacer(".", "_", "-", "_").Replace(p.Action) }

// NeedsPython reports whether the machine of a step must have Python for it.
func (p *Plugin) NeedsPython() bool { return p.Speaks == SpeaksPython }

// NumbersAsText reports whether numbers that templates give its arguments are text. Before 2.19, Ansible made text of whatever a template
// gave but lists, maps and truths; modules make numbers of it again, and action plugins take it as it is.
func (p *Plugin) NumbersAsText() bool {
	return p.Acting != nil && semver.Compare("v"+p.Version, "v2.19") < 0
}

// Brief is the plugin as the side that carries out a call needs it, which may have what it runs already.
func (p *Plugin) Brief() *Plugin {
	b := *p
	b.Members, b.Documented, b.Returns, b.Doc, b.Schema, b.Acting = nil, nil, nil, "", nil, nil
	return &b
}

// Declare makes an action of what a plugin says of it. The error is for its author.
func (p *Plugin) Declare() (*Action, error) {
	a := &Action{
		Name: p.Action, Doc: p.Doc, Free: p.Free, Process: "*", Check: p.Check == CheckFull, Diff: p.Diff, Returns: p.listReturns(),
		Plugin: p,
	}
	if p.Where != "" && p.Where != OnTarget && p.Where != OnController {
		return nil, fmt.Errorf("`where` of %s is %q, and not %s or %s", p.Action, p.Where, OnTarget, OnController)
	}
	if p.Documented != nil {
		fields := p.documentedFields()
		a.fields = func() []Field { return fields }
		return a, nil
	}
	s, err := readSchema(p.Action, p.Schema)
	if err != nil {
		return nil, err
	}
	a.fields, a.Open, a.schema = func() []Field { return s.fields }, s.open, s
	if _, ok := a.Field(p.Free); p.Free != "" && !ok {
		return nil, fmt.Errorf("`free` of %s is %q, which its schema does not have", p.Action, p.Free)
	}
	return a, nil
}

func (p *Plugin) listReturns() []Return {
	said := p.Returns
	if properties, ok := said["properties"].(map[string]any); ok {
		said = properties
	}
	var list []Return
	for _, name := range slices.Sorted(maps.Keys(said)) {
		r := Return{Name: name}
		switch about := said[name].(type) {
		case string:
			r.Doc = about
		case map[string]any:
			r.Doc, _ = about["description"].(string)
		}
		list = append(list, r)
	}
	return list
}

// decodePlugin brings arguments to the types that the schema asks for, as far as playbooks have them as text, and lets the
// schema judge.
func (a *Action) decodePlugin(args map[string]any) (any, []Problem) {
	if a.Plugin.Speaks == SpeaksPython {
		return a.decodeDocumented(args)
	}
	values := map[string]any{}
	for name, v := range args {
		f, _ := a.Field(name)
		if v == nil && (f == nil || !f.Required) {
			continue // null counts as not given
		}
		values[name] = typedValue(f, v)
	}
	return &PluginArgs{Plugin: a.Plugin, Values: values}, a.schema.checkArgs(a.Name, values)
}

// typedValue is a value as JSON has it. What cannot be made what the field wants stays, and the schema refuses it.
func typedValue(f *Field, v any) any {
	kind := Any
	if f != nil {
		kind = f.Kind
	}
	switch kind {
	case Bool:
		if b, ok := asBool(v); ok {
			return b
		}
	case Int:
		if n, ok := asInt(v); ok {
			return n
		}
	case String, Path:
		if s, ok := asText(v); ok {
			return s
		}
	case Strings, Paths:
		if list, ok := asStrings(v); ok {
			return plainList(list)
		}
	case Object:
		if m, ok := v.(map[string]any); ok {
			inner := map[string]any{}
			for name, x := range m {
				sub, _ := f.Field(name)
				inner[name] = typedValue(sub, x)
			}
			return inner
		}
	default:
	}
	return plainValue(v)
}

func plainList(texts []string) []any {
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}

// plainValue is a value of nothing but what JSON has.
func plainValue(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plainValue(item)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, item := range v {
			m[name] = plainValue(item)
		}
		return m
	case fmt.Stringer: // a number that keeps its spelling
		text := v.String()
		var n json.Number
		if json.Unmarshal([]byte(text), &n) == nil {
			return n
		}
		return text
	}
	return v
}

// errSchema is about a plugin's schema.
func errSchema(action string, err error) error {
	text := strings.ReplaceAll(err.Error(), schemaURL(action), "the schema")
	return fmt.Errorf("the schema of %s cannot be used: %w", action, errors.New(strings.Join(strings.Fields(text), " ")))
}

// PluginError says why an action of a plugin cannot be used, and the way out.
type PluginError struct {
	Text string
	Hint string
}

func (e *PluginError) Error() string { return e.Text }
