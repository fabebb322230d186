package feature

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/plan/playbook"
)

// form is what may stand at a place.
type form uint8

const (
	anything  form = iota // it is not known, or the user's own names
	document              // the map of a playbook of steps
	play                  // a play
	step                  // a step, or a task of a play
	arguments             // of an action
	control               // loop_control
	variables             // names of the user's
	roleEntry             // an entry of roles
	names                 // a list of names, such as needs
)

// meaning is what a place means.
type meaning struct {
	form   form
	plays  bool         // it is in a play or its tasks
	action *spec.Action // of arguments
	fields []spec.Field // of arguments
	list   string       // of names: the key
}

var (
	looksLikePlays = regexp.MustCompile(`(?m)^-?\s+(- )?(hosts|import_playbook)\s*:`)
	looksLikeMap   = regexp.MustCompile(`(?m)^(steps|plays)\s*:`)
)

// rootOf is what a file holds.
func rootOf(p *Page) (list, plays bool, top form) {
	for _, b := range p.Books {
		for i := range b.Index.Plays {
			if b.Index.Plays[i].Path == p.Path {
				return true, true, play
			}
		}
		for i := range b.Index.Tasks {
			if t := &b.Index.Tasks[i]; t.Path == p.Path {
				return !looksLikeMap.MatchString(p.Text.String()), !t.Steps, step
			}
		}
	}
	all := p.Text.String()
	switch dir := filepath.Base(filepath.Dir(p.Path)); {
	case looksLikeMap.MatchString(all):
		return false, strings.Contains(all, "\nplays:"), step
	case dir == "tasks", dir == "handlers":
		return true, true, step
	case slices.Contains([]string{"vars", "defaults", "group_vars", "host_vars"}, dir):
		return false, true, variables
	case looksLikePlays.MatchString(all):
		return true, true, play
	case strings.HasPrefix(strings.TrimSpace(all), "- "), strings.Contains(all, "\n- "):
		return true, false, step
	case strings.TrimSpace(all) == "" || len(p.Books) > 0:
		return true, false, step
	}
	return false, false, anything
}

// interpret says what the place means that a path of keys leads to.
func interpret(p *Page, s *surroundings) meaning {
	list, plays, top := rootOf(p)
	m := meaning{plays: plays}
	path := s.path
	switch {
	case top == variables || top == anything:
		return meaning{form: top, plays: plays}
	case list && len(path) == 0:
		return meaning{form: anything, plays: plays}
	case list:
		m.form, path = top, path[1:]
	default:
		m.form = document
	}
	// Each key leads into what it holds; an item of a list is what the list is of.
	for i, key := range path {
		if key == "-" {
			continue
		}
		siblings := s.siblings
		if i < len(path)-1 || s.key == key {
			siblings = nil
		}
		m = m.enter(key, siblings)
	}
	return m
}

// taskLists are the keys that hold tasks or steps.
var taskLists = []string{"tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always", "steps", "undo"}

// enter is what stands under a key.
func (m meaning) enter(key string, _ []string) meaning {
	in := meaning{plays: m.plays}
	switch {
	case m.form == variables, m.form == anything:
		in.form = m.form
	case m.form == arguments:
		if f := fieldNamed(m.fields, key); f != nil && f.Kind == spec.Object {
			in.form, in.fields, in.action = arguments, f.Fields, m.action
		}
	case slices.Contains(taskLists, key):
		in.form = step
	case key == "plays":
		in.form, in.plays = play, true
	case key == "roles" || key == "dependencies":
		in.form = roleEntry
	case key == "vars" || key == "set_fact" || key == "env" || key == "environment" || key == "with":
		in.form = variables
	case key == "loop_control":
		in.form = control
	case key == "needs", key == "notify", key == "vars_files", key == "listen":
		in.form, in.list = names, key
	case m.form == step || m.form == roleEntry:
		if a, ok := spec.Lookup(key); ok {
			in.form, in.action, in.fields = arguments, a, a.Fields()
		}
	}
	return in
}

func fieldNamed(fields []spec.Field, name string) *spec.Field {
	i := slices.IndexFunc(fields, func(f spec.Field) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
	if i < 0 {
		return nil
	}
	return &fields[i]
}

// documented is a key with what is said of it.
type documented struct {
	name, doc string
	aliases   []string
}

// ofPlays are the keys that make a task of a play something else than an action.
var ofPlays = []documented{
	{name: "import_tasks", doc: "file of tasks, read when planning"},
	{name: "include_tasks", doc: "file of tasks, included when the play comes to it"},
	{name: "import_role", doc: "a role, read when planning"},
	{name: "include_role", doc: "a role, included when the play comes to it"},
	{name: "include_vars", doc: "file of variables"},
	{name: "block", doc: "tasks that share keys, and a place for `rescue` and `always`"},
}

func describe(list []playbook.Described) (keys []documented) {
	for _, d := range list {
		keys = append(keys, documented{d.Name, d.Doc, d.Aliases})
	}
	return keys
}

// keysOf are the keys that may stand at a place, but for actions. kind is that of the task, if it is known.
func (m meaning) keysOf(kind playbook.TaskKind, known bool) (keys []documented) {
	of := func(table []playbook.Key) {
		for i := range table {
			if k := &table[i]; k.Supported() && (!known || k.On(kind)) {
				keys = append(keys, documented{k.Name, k.Doc, k.Aliases})
			}
		}
	}
	switch m.form {
	case document:
		return describe(playbook.DocumentKeys)
	case play:
		for i := range playbook.PlayKeys {
			if k := &playbook.PlayKeys[i]; k.Supported() {
				keys = append(keys, documented{name: k.Name, doc: k.Doc})
			}
		}
		return append(keys, documented{name: "import_playbook", doc: "another file of plays"})
	case step:
		if m.plays {
			of(playbook.PlayTaskKeys)
		} else {
			of(playbook.Keys)
		}
	case control:
		return describe(playbook.LoopKeys)
	case roleEntry:
		keys = append(keys, documented{name: "role", doc: "the role, by its name"})
		of(playbook.PlayTaskKeys)
	case arguments:
		for _, f := range m.fields {
			if !f.Hidden {
				keys = append(keys, documented{f.Name, fieldDoc(&f), f.Aliases})
			}
		}
	case anything, variables, names:
	}
	return keys
}

// directivesOf are the keys that make a step something else than an action.
func (m meaning) directivesOf() []documented {
	if m.plays {
		return ofPlays
	}
	return describe(playbook.Directives)
}

// kindOf is what the keys of a step say that it is.
func (m meaning) kindOf(keys []string) (kind playbook.TaskKind, known bool) {
	for _, key := range keys {
		if _, ok := spec.Lookup(key); ok {
			return playbook.Action, true
		}
		for _, d := range playbook.Directives {
			if d.Name == key || slices.Contains(d.Aliases, key) {
				return d.Kind, true
			}
		}
		if key == "include_role" || key == "import_role" {
			return playbook.Role, true
		}
	}
	return 0, false
}

// fieldDoc is what is to be known of an argument.
func fieldDoc(f *spec.Field) string {
	kind := f.Type
	if kind == "" {
		kind = f.Kind.String()
	}
	doc := strings.TrimSpace(f.Doc) + "\n\n*" + kind + "*"
	if f.Required {
		doc += ", required"
	}
	if f.Default != "" {
		doc += "; default: " + f.Default
	}
	if len(f.Enum) > 0 {
		doc += "; one of `" + strings.Join(f.Enum, "`, `") + "`"
	}
	return doc
}
