package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
}

// Speech is how a plugin is talked to.
type Speech string

// A program for each call, with the request on its standard input; one program for all calls of a run; a module as Ansible
// has them, with its arguments in a file, or in an envelope on standard input.
const (
	SpeaksOnce     Speech = "once"
	SpeaksLines    Speech = "lines"
	SpeaksFile     Speech = "file"
	SpeaksEnvelope Speech = "envelope"
)

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
	if p.Path == "" {
		return "via ansible, needs python on host"
	}
	return "from " + shown(p.Path)
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
