package plan

import (
	"fmt"
	"strings"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// onController reports whether a step runs where moon does, as who moon is, whatever host and user it is about.
func (k *task) onController() bool {
	return k.action != nil && k.action.Plugin != nil && k.action.Plugin.Where == spec.OnController
}

// includeVarsArgs are those of include_vars, which the parser has looked at.
func includeVarsArgs(t *playbook.Task) (args []arg) {
	if !t.Args.IsZero() {
		args = append(args, arg{name: "file", key: "file", value: t.Args})
	}
	for _, e := range t.ExtraArgs.Entries() {
		args = append(args, arg{name: e.Key, key: e.Key, value: e.Value})
	}
	return args
}

// otherArgs are what people call an argument that they know by what it is.
var otherArgs = map[string]string{
	"source": "src", "from": "src", "destination": "dest", "target": "dest", "to": "dest", "filename": "path", "file": "path", "directory": "path", "folder": "path",
	"permissions": "mode", "perms": "mode", "user": "owner", "text": "content", "package": "name", "packages": "name", "service": "name", "message": "msg", "command": "cmd",
}

// fieldNames are the names a person may write, without those that only tools do.
func fieldNames(fields []spec.Field) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
		for _, a := range f.Aliases {
			if !strings.HasPrefix(a, "_") {
				names = append(names, a)
			}
		}
	}
	return names
}

// values renders arguments. Paths become absolute, conditions and expressions stay as they are but are evaluated once
// for what they need. each is called before every argument, so that a caller can tell what is missing where.
func (k *task) values(r *renderer, args []arg, home string, prefix string, each func(field string)) map[string]any {
	m := make(map[string]any, len(args))
	left := false
	for _, g := range args {
		each(prefix + g.name)
		v := k.argValue(r, g, home, prefix, each)
		if _, omitted := v.(eval.Omitted); omitted {
			left = true
			continue
		}
		if r.engine.Python {
			if prefix == "" && k.action.Name == "set_fact" {
				r.remember(g.name, v)
			}
			v = eval.Ordinary(v)
		}
		m[g.name] = v
	}
	if left && k.plays && k.action.Name == "print" && m["msg"] == nil && m["var"] == nil {
		m["msg"] = "Hello world!" // what debug prints to whom has left out what it is to print
	}
	return m
}

func (k *task) argValue(r *renderer, g arg, home, prefix string, each func(string)) any {
	if g.field == nil {
		return r.value(g.value)
	}
	switch g.field.Kind {
	case spec.Conditions:
		r.decide(g.conds)
		return plainTexts(g.value)
	case spec.Expression:
		if g.expr != nil {
			r.use(g.value, g.expr.Refs())
			result, err := g.expr.Value(r.env)
			shown := k.plays && k.action.Name == "print" && r.warned(g.value, err)
			if err != nil && !shown {
				r.wrong(g.value, err)
			}
			r.miss(result.Missing)
			if omitted, ok := result.Value.(eval.Omitted); ok && err == nil {
				return omitted
			}
		}
		return g.value.Text()
	case spec.Object:
		if g.value.Kind() == playbook.Map {
			return k.values(r, g.sub, home, prefix+g.name+".", each)
		}
	case spec.Path:
		if v := r.scalar(g.value); v != nil {
			if text, ok := v.(string); ok && text != "" && (!g.field.URL || !strings.Contains(text, "://")) {
				if k.plays && g.field.AsIs && !strings.HasPrefix(text, "~") {
					return text
				}
				if g.name == "src" && k.search != nil {
					return k.search.find(text, home)
				}
				if k.action.Name == "fetch" && g.name == "dest" { // here, wherever the step runs
					return resolvePath(text, k.base, home)
				}
				return k.resolve(text, home)
			}
			return v
		}
	case spec.ScriptLine:
		if v := r.scalar(g.value); v != nil {
			if text, ok := v.(string); ok {
				return spec.ResolveScript(text, func(path string) string {
					if k.search != nil {
						return k.search.find(path, home)
					}
					return resolvePath(path, k.dir, home)
				})
			}
			return v
		}
	case spec.Paths:
		return absolutePaths(r.value(g.value), func(path string) string { return k.resolve(path, home) })
	case spec.Strings:
		if g.value.Kind() == playbook.List { // numbers keep their spelling: a word 010 is not 8
			list := make([]any, 0, g.value.Len())
			for _, item := range g.value.Items() {
				v := r.scalar(item)
				if v == nil {
					v = r.value(item)
				}
				list = append(list, eval.Plain(v))
			}
			return list
		}
	case spec.String, spec.FileMode, spec.Duration:
		if r.engine.Python && g.field.JSON {
			if text, ok := r.json(g.value); ok {
				return text
			}
		}
		if v := r.scalar(g.value); v != nil {
			return v
		}
	default:
	}
	return eval.Plain(r.value(g.value))
}

// absolutePaths resolves a list of paths, or one text with commas between them. What is open stays open.
func absolutePaths(v any, resolve func(string) string) any {
	var items []any
	switch v := eval.Plain(v).(type) {
	case []any:
		items = v
	case string:
		for path := range strings.SplitSeq(v, ",") {
			items = append(items, strings.TrimSpace(path))
		}
	default:
		return v
	}
	paths := make([]any, len(items))
	for i, item := range items {
		paths[i] = item
		if text, ok := item.(string); ok && text != "" {
			paths[i] = resolve(text)
		}
	}
	return paths
}

// scalar renders a value that is text, number or boolean to text; open text stays open. Anything else gives nil.
func (r *renderer) scalar(v playbook.Value) any {
	switch v.Kind() {
	case playbook.Bool, playbook.Int, playbook.Float:
		return v.Text()
	case playbook.String:
		switch got := r.template(v).(type) {
		case open:
			return got
		case []any, map[string]any, *eval.Dict, nil, eval.Omitted:
			return got
		default:
			return eval.Text(got)
		}
	case playbook.Null, playbook.List, playbook.Map:
	}
	return nil
}

// json renders a list or map that stands for a text: it is written here, because only here its maps have their order.
func (r *renderer) json(v playbook.Value) (any, bool) {
	missing := len(r.missing)
	var got any
	switch v.Kind() {
	case playbook.List, playbook.Map:
		got = r.value(v)
	case playbook.String:
		got = r.template(v)
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
	switch got.(type) {
	case []any, map[string]any, *eval.Dict:
		if len(r.missing) == missing {
			return eval.PythonJSON(got), true
		}
		return eval.Plain(got), true
	}
	return nil, false
}

func plainTexts(v playbook.Value) any {
	if v.Kind() != playbook.List {
		return v.Text()
	}
	var list []any
	for _, item := range v.Items() {
		list = append(list, item.Text())
	}
	return list
}

// valueOf finds the value as written of an argument, for the place of a problem.
func valueOf(args []arg, field string) (playbook.Value, bool) {
	name, rest, nested := strings.Cut(field, ".")
	for _, g := range args {
		if g.name != name && g.key != name {
			continue
		}
		if nested {
			if v, ok := valueOf(g.sub, rest); ok {
				return v, true
			}
		}
		return g.value, true
	}
	return playbook.Value{}, false
}

// summary says on one line what a step will do. Paths below the playbook's directory are shown relative to it.
func (p *Plan) summary(action string, args map[string]any) string {
	text := func(name string) string { return FirstLine(eval.Text(p.Portable(args[name]))) }
	switch action {
	case "shell":
		return text("cmd")
	case "command":
		if argv, ok := args["argv"].([]any); ok {
			words := make([]string, len(argv))
			for i, w := range argv {
				words[i] = eval.Text(w)
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
			return FirstLine(eval.Text(that[0])) + more
		}
		return text("that")
	case "set_fact", "vars":
		return strings.Join(sortedKeys(args), ", ")
	}
	if a, ok := p.plugins[action]; ok {
		return p.pluginSummary(a, args)
	}
	return ""
}

func shownPaths(root string, paths []any) []string {
	var shown []string
	for _, path := range paths {
		shown = append(shown, shownPath(root, eval.Text(path)))
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
			words = append(words, eval.Text(p.Portable(args[f.Name])))
		}
	}
	if len(words) == 0 {
		words = append(words, pairsOf(args)...)
	}
	if len(words) == 0 {
		words = append(words, a.Name)
	}
	from := a.Plugin.From(func(path string) string { return shownPath(p.Root, path) })
	return FirstLine(strings.Join(append(words, "("+from+")"), " "))
}

// pairsOf are the first few plain arguments, as a person would type them.
func pairsOf(args map[string]any) []string {
	const most = 3
	var pairs []string
	for _, name := range sortedKeys(args) {
		switch args[name].(type) {
		case nil, []any, map[string]any:
		default:
			if len(pairs) < most {
				pairs = append(pairs, name+"="+eval.Text(args[name]))
			}
		}
	}
	return pairs
}

// fields collects what a step's fields still wait for, field by field.
type fields struct {
	r        *renderer
	field    string
	unknowns []Unknown
	all      []eval.Missing
}

// at closes the field before and opens the next.
func (f *fields) at(name string) {
	for _, m := range f.r.missing {
		f.unknowns = append(f.unknowns, Unknown{Field: f.field, Name: m.Name, Steps: m.Steps})
	}
	f.all = append(f.all, f.r.missing...)
	f.r.missing = nil
	f.field = name
}

// isUser reports whether a text can be a user's name: one that sudo and the like do not take for something else.
func isUser(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \t\r\n:/#%\x00") && name[0] != '-'
}

// notUser says that the value of a setting is not the name of a user.
func notUser(setting, name string) (message, hint string) {
	message = setting + " must be the name of a user; this is " + quoted(strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(name))
	if isUser(strings.TrimRight(name, "\r\n")) {
		hint = "it ends with a line break: write it on the line of the key, with `|-` in place of `|`, or use `| trim`"
	}
	return message, hint
}

// usesOf are the variables a step uses, as far as they are known where it stands.
func usesOf(names []string, e *env) []Use {
	var uses []Use
	for _, name := range names {
		var from *binding
		if !e.frame.each(name, func(b *binding) bool { from = b; return true }) {
			continue
		}
		v, _ := e.Lookup(name)
		if m, ok := wholeFacts(v); ok {
			v = CountOf(len(m), "entry")
		}
		uses = append(uses, Use{Name: name, Value: v, From: from.from, Origin: from.origin})
	}
	return uses
}
