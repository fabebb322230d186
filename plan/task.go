package plan

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

// OnController reports whether a step runs where moon does, as who moon is, whatever host and user it is about.
func (k *Task) OnController() bool {
	return k.Action != nil && k.Action.Plugin != nil && k.Action.Plugin.Where == spec.OnController
}

// IncludeVarsArgs are those of include_vars, which the parser has looked at.
func IncludeVarsArgs(t *playbook.Task) (args []Arg) {
	if !t.Args.IsZero() {
		args = append(args, Arg{Name: "file", Key: "file", Value: t.Args})
	}
	for _, e := range t.ExtraArgs.Entries() {
		args = append(args, Arg{Name: e.Key, Key: e.Key, Value: e.Value})
	}
	return args
}

// OtherArgs are what people call an argument that they know by what it is.
var OtherArgs = map[string]string{
	"source": "src", "from": "src", "destination": "dest", "target": "dest", "to": "dest", "filename": "path", "file": "path",
	"directory": "path", "folder": "path",
	"permissions": "mode", "perms": "mode", "user": "owner", "text": "content", "package": "name", "packages": "name", "service": "name",
	"message": "msg", "command": "cmd",
}

// FieldNames are the names a person may write, without those that only tools do.
func FieldNames(fields []spec.Field) []string {
	var names []string
	for _, f := range fields {
		if f.Hidden {
			continue
		}
		names = append(names, f.Name)
		for _, a := range f.Aliases {
			if !strings.HasPrefix(a, "_") {
				names = append(names, a)
			}
		}
	}
	return names
}

// Values renders arguments. Paths become absolute, conditions and expressions stay as they are but are evaluated once
// for what they need. each is called before every argument, so that a caller can tell what is missing where.
func (k *Task) Values(r *Renderer, args []Arg, home string, prefix string, each func(field string)) map[string]any {
	m := make(map[string]any, len(args))
	left := false
	if g := k.Action.Plugin; g != nil {
		defer func(before bool) { r.NumbersAsText = before }(r.NumbersAsText)
		r.NumbersAsText = g.NumbersAsText()
	}
	for _, g := range args {
		each(prefix + g.Name)
		v := k.ArgValue(r, g, home, prefix, each)
		// As with Ansible, an argument that comes to `omit` is as if it were not written.
		if _, omitted := v.(value.Omitted); omitted {
			left = true
			continue
		}
		v = value.WithoutOmitted(v)
		// From here on maps have no order. What set_fact sets must have it when it is printed.
		if prefix == "" && k.Action.Name == "set_fact" {
			v = k.Dialect.Rules().FactValue(v)
			r.remember(g.Name, v)
		}
		m[g.Name] = value.Ordinary(v)
	}
	if k.There == "src, dest" && prefix == "" {
		m["local"] = true
	}
	if names := k.Action.SpecifiedNames(m); len(names) > 0 && prefix == "" {
		m[spec.SpecifiedVariables] = k.specified(r, args[0].Value, names, each)
	}
	if left && k.Action.Name == "print" && m["msg"] == nil && m["var"] == nil {
		m["msg"] = "Hello world!" // what debug prints to whom has left out what it is to print
	}
	return m
}

// specified are the variables of some names, without those that are not set.
func (k *Task) specified(r *Renderer, at playbook.Value, names []string, each func(field string)) map[string]any {
	m := map[string]any{}
	for _, name := range names {
		each(spec.SpecifiedVariables + "." + name)
		v := r.Value(playbook.Written(at.Pos(), "{{ "+name+" | default(omit) }}"))
		if _, omitted := v.(value.Omitted); !omitted {
			m[name] = value.Ordinary(v)
		}
	}
	return m
}

// ArgValue renders an argument by the kind of its field. Each is called with the names of the parts that are rendered.
func (k *Task) ArgValue(r *Renderer, g Arg, home, prefix string, each func(string)) any {
	if g.Field == nil {
		return r.Value(g.Value)
	}
	switch g.Field.Kind {
	case spec.Conditions:
		r.Decide(g.Conds)
		return PlainTexts(g.Value)
	case spec.Expression:
		if g.Expr != nil {
			r.Use(g.Value, g.Expr.Refs())
			result, err := g.Expr.Value(r.Env)
			// As with Ansible, `debug: var` of an undefined name says so and does not fail.
			shown := k.Dialect.Rules().PrintsUndefined && k.Action.Name == "print" && r.warned(g.Value, err)
			if err != nil && !shown {
				r.Wrong(g.Value, err)
			}
			r.Miss(result.Missing)
			if omitted, ok := result.Value.(value.Omitted); ok && err == nil {
				return omitted
			}
		}
		return g.Value.Text()
	case spec.Object:
		if g.Value.Kind() == playbook.Map {
			return k.Values(r, g.Sub, home, prefix+g.Name+".", each)
		}
	case spec.Path:
		if v := r.scalar(g.Value, false); v != nil {
			if text, ok := v.(string); ok && text != "" && (!g.Field.URL || !strings.Contains(text, "://")) {
				if g.Field.AsIs && k.Dialect.Rules().KeepsPaths && !strings.HasPrefix(text, "~") {
					return text
				}
				// Here, wherever the step runs.
				if k.Action.Name == "fetch" && g.Name == "dest" || k.Action.Name == "synchronize" && (!k.Remote || !strings.Contains(k.There, g.Name)) {
					return k.Search.Own(text, k.Base, home)
				}
				if g.Name == "src" && k.Search != nil && k.There == "" { // as Ansible does: in the roles around, and then next to the play
					return k.Search.Find(text, home)
				}
				return k.Resolve(text, home)
			}
			return v
		}
	case spec.ScriptLine:
		if v := r.scalar(g.Value, false); v != nil {
			if text, ok := v.(string); ok {
				return spec.ResolveScript(text, func(path string) string {
					if k.Search != nil {
						return k.Search.Find(path, home)
					}
					return source.ResolvePath(path, k.Dir, home)
				})
			}
			return v
		}
	case spec.Paths:
		return source.ResolveEach(value.Plain(r.Value(g.Value)), func(path string) string { return k.Resolve(path, home) })
	case spec.Strings:
		if g.Value.Kind() == playbook.List {
			list := make([]any, 0, g.Value.Len())
			for _, item := range g.Value.Items() {
				v := r.scalar(item, false)
				if v == nil {
					v = r.Value(item)
				}
				list = append(list, value.Plain(v))
			}
			return list
		}
	case spec.String, spec.FileMode, spec.Duration:
		if g.Field.JSON && r.Engine.Converts() {
			if text, ok := r.json(g.Value); ok {
				return text
			}
		}
		// What is one of some words, or the mode of a file, is read unchanged: no, and 0644.
		if v := r.scalar(g.Value, g.Field.Kind == spec.FileMode || len(g.Field.Enum) > 0); v != nil {
			return v
		}
	default:
	}
	return value.Plain(r.Value(g.Value))
}

// scalar renders a value that is text, number or boolean to text, which may have to be unchanged; open text stays open. Anything
// else gives nil.
func (r *Renderer) scalar(v playbook.Value, asWritten bool) any {
	text := r.said
	if asWritten {
		text = value.Text
	}
	switch v.Kind() {
	case playbook.Bool, playbook.Int, playbook.Float:
		if asWritten {
			return v.Text()
		}
		return r.written(v)
	case playbook.String:
		missing := len(r.Missing)
		switch got := r.template(v).(type) {
		case []any, map[string]any, *value.Dict:
			// As Python prints it: Ansible's modules convert what is to be text.
			if len(r.Missing) == missing && r.Engine.Converts() {
				return value.PythonText(got)
			}
			return got
		case OpenText, nil, value.Omitted:
			return got
		default:
			return text(got)
		}
	case playbook.Null, playbook.List, playbook.Map:
	}
	return nil
}

// json renders a list or map that stands for a text: it is written here, because only here its maps have their order.
func (r *Renderer) json(v playbook.Value) (any, bool) {
	missing := len(r.Missing)
	var got any
	switch v.Kind() {
	case playbook.List, playbook.Map:
		got = r.Value(v)
	case playbook.String:
		got = r.template(v)
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
	switch got.(type) {
	case []any, map[string]any, *value.Dict:
		// With an open part there is no text yet: the value stays as it is, for the run to write.
		if len(r.Missing) == missing {
			return value.PythonJSON(got), true
		}
		return value.Plain(got), true
	}
	return nil, false
}

// PlainTexts are conditions as written: a text, or a list of them.
func PlainTexts(v playbook.Value) any {
	if v.Kind() != playbook.List {
		return v.Text()
	}
	var list []any
	for _, item := range v.Items() {
		list = append(list, item.Text())
	}
	return list
}

// ValueOf finds the value as written of an argument, for the place of a problem.
func ValueOf(args []Arg, field string) (playbook.Value, bool) {
	name, rest, nested := strings.Cut(field, ".")
	for _, g := range args {
		if g.Name != name && g.Key != name {
			continue
		}
		if nested {
			if v, ok := ValueOf(g.Sub, rest); ok {
				return v, true
			}
			if v, ok := partOf(g.Value, rest); ok {
				return v, true
			}
		}
		return g.Value, true
	}
	return playbook.Value{}, false
}

// partOf is what a map holds under names with dots between them, as far as there is such a thing.
func partOf(v playbook.Value, names string) (playbook.Value, bool) {
	name, rest, nested := strings.Cut(names, ".")
	inner, ok := v.Get(name)
	if !nested || !ok {
		return inner, ok
	}
	if part, ok := partOf(inner, rest); ok {
		return part, true
	}
	return inner, true
}

// Summary says on one line what a step will do. Paths below the playbook's directory are shown relative to it.
func (p *Plan) Summary(action string, args map[string]any) string {
	// A summary must not depend on where the playbook lies: plans are compared by it (package counterpart).
	text := func(name string) string { return FirstLine(value.Text(p.Portable(args[name]))) }
	switch action {
	case FinderAction:
		return cmp.Or(text("over"), text("host"), text("keys"))
	case "include", "include_tasks", "include_role", "include_vars", "preset": // of one that is open
		for _, what := range []string{"file", "role", "variables", "preset"} {
			if v := text(what); v != "" {
				return v
			}
		}
		return ""
	case "shell":
		return text("cmd")
	case "command":
		if argv, ok := args["argv"].([]any); ok {
			words := make([]string, len(argv))
			for i, w := range argv {
				words[i] = value.Text(w)
			}
			return FirstLine(strings.Join(words, " "))
		}
		return text("cmd")
	case "print", "fail":
		if v := text("var"); v != "" {
			return v
		}
		return text("msg")
	case "copy", "template":
		if src := text("src"); src != "" {
			return src + " → " + text("dest")
		}
		return "→ " + text("dest")
	case "file":
		if state := text("state"); state != "" {
			return state + " " + text("path")
		}
		return text("path")
	case "lineinfile", "replace":
		for _, name := range []string{"line", "regexp", "search_string"} {
			if v := text(name); v != "" {
				return text("path") + ": " + v
			}
		}
		return text("path")
	case "tempfile":
		return strings.TrimSpace(text("state") + " " + text("path"))
	case "find":
		if paths, ok := args["paths"].([]any); ok {
			args = map[string]any{"paths": strings.Join(shownPaths(p.Root, paths), ", ")}
		}
		return text("paths")
	case "stat", "blockinfile":
		return text("path")
	case "user", "group", "cron", "hostname", "timezone", "locale_gen":
		return strings.TrimSpace(text("state") + " " + text("name"))
	case "sysctl":
		if value := text("value"); value != "" {
			return text("name") + " = " + value
		}
		return strings.TrimSpace(text("state") + " " + text("name"))
	case "script":
		return text("cmd")
	case "authorized_key":
		return strings.TrimSpace(text("state") + " " + text("user"))
	case "git":
		// The URL may have a password in it.
		return spec.ShownURL(text("repo")) + " → " + text("dest")
	case "pause":
		for _, name := range []string{"prompt", "seconds", "minutes"} {
			if v := text(name); v != "" {
				return v
			}
		}
	case "wait":
		for _, name := range []string{"path", "url", "cmd", "port"} {
			if v := text(name); v != "" {
				return "for " + v
			}
		}
	case "assert":
		if that, ok := args["that"].([]any); ok && len(that) > 0 {
			more := ""
			if len(that) > 1 {
				more = fmt.Sprintf(" and %d more", len(that)-1)
			}
			return FirstLine(value.Text(that[0])) + more
		}
		return text("that")
	case "validate_argument_spec":
		options, _ := args["argument_spec"].(map[string]any)
		return strings.Join(SortedKeys(options), ", ")
	case "set_fact", "vars":
		return strings.Join(SortedKeys(args), ", ")
	}
	if a, ok := p.Declared[action]; ok {
		return p.pluginSummary(a, args)
	}
	if a, ok := spec.Lookup(action); ok && a.Subject != "" {
		return strings.TrimSpace(text("state") + " " + p.subject(a, args))
	}
	return ""
}

// subject is what a step is about, under any name of its field; of a list the parts.
func (p *Plan) subject(a *spec.Action, args map[string]any) string {
	f, ok := a.Field(a.Subject)
	if !ok {
		return ""
	}
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		switch v := args[name].(type) {
		case nil:
		case []any:
			words := make([]string, len(v))
			for i, item := range v {
				words[i] = FirstLine(value.Text(p.Portable(item)))
			}
			return strings.Join(words, ", ")
		default:
			return FirstLine(value.Text(p.Portable(v)))
		}
	}
	return ""
}

func shownPaths(root string, paths []any) []string {
	var shown []string
	for _, path := range paths {
		shown = append(shown, ShownPath(root, value.Text(path)))
	}
	return shown
}

// pluginSummary says on one line what a step of a plugin will do: what it must be given, and whose action it is.
func (p *Plan) pluginSummary(a *spec.Action, args map[string]any) string {
	var words []string
	for _, f := range a.Fields() {
		if !f.Required {
			continue
		}
		switch args[f.Name].(type) {
		case nil, []any, map[string]any:
		default:
			words = append(words, value.Text(p.Portable(args[f.Name])))
		}
	}
	if len(words) == 0 {
		words = append(words, pairsOf(args)...)
	}
	if len(words) == 0 {
		words = append(words, a.Name)
	}
	from := a.Plugin.From(func(path string) string { return ShownPath(p.Root, path) })
	return FirstLine(strings.Join(append(words, "("+from+")"), " "))
}

// pairsOf are the first few plain arguments, as a person would type them.
func pairsOf(args map[string]any) []string {
	const most = 3
	var pairs []string
	for _, name := range SortedKeys(args) {
		switch args[name].(type) {
		case nil, []any, map[string]any:
		default:
			if len(pairs) < most {
				pairs = append(pairs, name+"="+value.Text(args[name]))
			}
		}
	}
	return pairs
}

// Fields collects what a step's fields still wait for, field by field.
type Fields struct {
	R        *Renderer
	Field    string
	Unknowns []Unknown
	All      []value.Missing
}

// At closes the field before and opens the next.
func (f *Fields) At(name string) {
	// All fields share the renderer: what it misses now belongs to the one before.
	for _, m := range f.R.Missing {
		f.Unknowns = append(f.Unknowns, Unknown{Field: f.Field, Name: m.Name, Steps: m.Steps})
	}
	f.All = append(f.All, f.R.Missing...)
	f.R.Missing = nil
	f.Field = name
}

// NotUser says that the value of a setting is not the name of a user.
func NotUser(setting, name string) (message, hint string) {
	message = setting + " must be the name of a user; this is " + Quoted(strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(name))
	if spec.IsUser(strings.TrimRight(name, "\r\n")) {
		hint = "it ends with a line break: write it on the line of the key, with `|-` in place of `|`, or use `| trim`"
	}
	return message, hint
}

// UsesOf are the variables a step uses, as far as they are known where it stands.
func UsesOf(names []string, e *Env) []Use {
	var uses []Use
	for _, name := range names {
		var from *vars.Binding
		if !e.Frame.Each(name, func(b *vars.Binding) bool { from = b; return true }) {
			continue
		}
		v, _ := e.Lookup(name)
		// All facts would stand in the plan again for each step that takes them.
		if m, ok := WholeFacts(v); ok {
			v = CountOf(len(m), "entry")
		}
		uses = append(uses, Use{Name: name, Value: v, From: from.From, Origin: from.Origin})
	}
	return uses
}

// InOrder gives the maps that a step has set the order in which the playbook has them: what carries out a step knows none.
func (c *Call) InOrder(values map[string]any) map[string]any {
	if c == nil || len(c.Ordered) == 0 || values == nil {
		return values
	}
	made := make(map[string]any, len(values))
	for name, v := range values {
		made[name] = value.InOrderOf(v, c.Ordered[name])
	}
	return made
}

// Resolve makes a path of a task what it is where the task runs. Homes of other users, and on other machines, only those know.
func (k *Task) Resolve(path, home string) string {
	switch {
	case k.Away && (path == "~" || strings.HasPrefix(path, "~")):
		return path
	case k.Remote && path != "" && !filepath.IsAbs(path):
		// The working directory of moon does not exist there: paths start where a login does.
		return "~/" + path
	}
	return source.ResolvePath(path, k.Base, home)
}

// ReadsSource reports whether what the task copies or renders is a file of the machine that plans, which can be looked at ahead.
func (k *Task) ReadsSource() bool { return k.Search != nil || k.Dialect.Rules().ReadsSources }

// MayHide reports whether no_log hides a task: then its items give its steps neither names nor paths. A value that is
// not written out counts as true, since it may be another one in each round.
func MayHide(noLog playbook.Value) bool {
	if noLog.IsZero() {
		return false
	}
	hide, written := spec.ParseBool(Plain(noLog))
	return hide || !written
}

// KeyPos is where the key of an argument is written.
func (g *Arg) KeyPos(t *playbook.Task) diag.Pos {
	for _, v := range []playbook.Value{t.Args, t.ExtraArgs} {
		for _, e := range v.Entries() {
			if e.Key == g.Key {
				return e.Pos
			}
		}
	}
	return g.Value.Pos()
}
