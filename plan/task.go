package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// task is what running a step needs beyond what is shown.
type task struct {
	*compiled
	frame *frame
	when  []condition // the inherited ones first

	decisive []decisive // what decides the step and shows in no field

	// Of the task itself, or of the nearest construct around it.
	ignore []condition
	env    []playbook.Value
	cwd    playbook.Value

	becomeUser     playbook.Value // where it is known only in the run
	becomePassword string         // a secret; "" if none is known
	python         string         // ansible_python_interpreter of the host that it runs on

	// Of plays.
	base   string  // where relative paths start
	search *search // where what is copied is looked for; nil: nowhere in particular
	plays  bool
	away   bool // it runs as another user, or elsewhere
	remote bool // elsewhere

	renders *rendering // what a template's file comes to; nil for other actions, and where it is not known

	read *readVars // by an include_vars with `register`; nil: nothing

	took []int // steps that set variables to what is known ahead, and that it uses

	open bool // something is not known before the run
	dir  string
	call *Call
}

// onController reports whether a step runs where moon does, as who moon is, whatever host and user it is about.
func (k *task) onController() bool {
	return k.action != nil && k.action.Plugin != nil && k.action.Plugin.Where == spec.OnController
}

// compiled is what all steps of one task of the playbook share.
type compiled struct {
	src     *playbook.Task
	action  *spec.Action
	args    []arg
	when    []condition // its own
	changed []condition
	failed  []condition
	until   []condition
	breaks  []condition // break_when
	undo    *compiled   // of the step that reverses it; nil if there is none
	sound   bool        // the arguments are of a kind the action takes

	reached  int  // how often it was planned, on whichever host
	misspelt bool // an argument is not known: it may be one that seems to be missing
}

// arg is one argument as written.
type arg struct {
	name  string // canonical
	key   string // as written
	field *spec.Field
	value playbook.Value
	conds []condition      // of a Condition
	expr  *eval.Expression // of an Expression
	sub   []arg            // of an Object
}

// compile reads what is written under a task's keys, once per task.
func (p *compiler) compile(t *playbook.Task, chain []string) *compiled {
	k := &compiled{src: t, when: p.conditions(t.When, chain)}
	switch t.Kind {
	case playbook.Action:
		if _, known := spec.Lookup(t.Action); !known {
			k.action, _ = spec.Steering(t.Action)
		}
		if k.action == nil && !t.Absent {
			k.action = p.action(t, chain)
		}
		// What is wrong with its action is said, or will be. What it registers is there for the steps after it.
		if t.Absent || k.action == nil && t.Action != "" {
			k.action = spec.Absent(t.ActionKey)
			k.changed, k.failed, k.until = p.conditions(t.ChangedWhen, chain), p.conditions(t.FailedWhen, chain), p.conditions(t.Until, chain)
			return k
		}
		if k.action == nil {
			return k
		}
	case playbook.Vars:
		k.action, _ = spec.Lookup("set_fact")
	case playbook.IncludeVars:
		if !p.plan.Plays {
			return k
		}
		k.action, _ = spec.Steering("include_vars")
	case playbook.Include, playbook.Block, playbook.Preset, playbook.Role:
		return k
	}
	k.changed = p.conditions(t.ChangedWhen, chain)
	k.failed = p.conditions(t.FailedWhen, chain)
	k.until = p.conditions(t.Until, chain)
	k.breaks = p.conditions(t.BreakWhen, chain)
	p.checkOwn(k, chain)
	if t.Kind == playbook.IncludeVars {
		k.args, k.sound = includeVarsArgs(t), true
		return k
	}
	k.args, k.sound = p.actionArgs(k.action, t, chain)
	written := t.Args.Len() + t.ExtraArgs.Len()
	if t.Args.Kind() == playbook.String && k.action.Free == "" {
		written += len(splitPairs(t.Args.Text()))
	}
	k.misspelt = len(k.args) < written && t.Args.Kind() != playbook.List
	if t.Undo != nil {
		k.undo = p.compile(t.Undo, chain)
	}
	return k
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

// actionArgs brings the spellings of an action's arguments to one form: names and values.
func (p *compiler) actionArgs(a *spec.Action, t *playbook.Task, chain []string) (args []arg, ok bool) {
	v := t.Args
	switch kind := v.Kind(); {
	case kind == playbook.Null:
	case kind == playbook.Map:
		args = p.mapArgs(a.Name, a.Open, a.Field, v, fieldNames(a.Fields()), chain)
	case kind == playbook.List && a.FreeList != "":
		f, _ := a.Field(a.FreeList)
		args = append(args, p.arg(f.Name, f.Name, f, v, chain))
	case kind != playbook.List && a.Free != "":
		f, _ := a.Field(a.Free)
		args = append(args, p.arg(f.Name, f.Name, f, v, chain))
	case kind == playbook.String:
		for _, kv := range splitPairs(v.Text()) {
			if kv.key == "" {
				p.errorf(v.PosAt(kv.at), utf8.RuneCountInString(kv.value), chain, "write its arguments as a map, or as key=value", "`%s` does not take a plain text", a.Name)
				return nil, false
			}
			f, ok := a.Field(kv.key)
			if !ok && !a.Open && !spec.IsLater(a.Name, kv.key) {
				p.unknownArg(kv.key, a.Name, v.PosAt(kv.at), fieldNames(a.Fields()), chain)
				continue
			}
			name := kv.key
			if f != nil {
				name = f.Name
			}
			args = append(args, p.arg(name, kv.key, f, v.Part(kv.valuesAt, kv.value), chain))
		}
	default:
		p.errorf(v.Pos(), 0, chain, "write its arguments as a map", "`%s` does not take %s", a.Name, kind)
		return nil, false
	}
	if t.ExtraArgs.Kind() == playbook.Map {
		args = append(args, p.mapArgs(a.Name, a.Open, a.Field, t.ExtraArgs, fieldNames(a.Fields()), chain)...)
	}
	seen := map[string]string{}
	for _, g := range args {
		if as, ok := seen[g.name]; ok {
			p.errorf(g.value.Pos(), 0, chain, "give it once", "`%s` and `%s` are the same argument of `%s`", as, g.key, a.Name)
		}
		seen[g.name] = g.key
	}
	return args, true
}

// otherArgs are what people call an argument that they know by what it is.
var otherArgs = map[string]string{
	"source": "src", "from": "src", "destination": "dest", "target": "dest", "to": "dest", "filename": "path", "file": "path", "directory": "path", "folder": "path",
	"permissions": "mode", "perms": "mode", "user": "owner", "text": "content", "package": "name", "packages": "name", "service": "name", "message": "msg", "command": "cmd",
}

func (p *compiler) unknownArg(key, of string, pos diag.Pos, known, chain []string) {
	hint := suggest.DidYouMean(key, known)
	if hint == "" && slices.Contains(known, otherArgs[key]) {
		hint = "did you mean `" + otherArgs[key] + "`?"
	}
	if hint == "" && len(known) < 16 {
		hint = "it takes " + strings.Join(known, ", ")
	}
	p.errorf(pos, utf8.RuneCountInString(key), chain, hint, "unknown argument `%s` of `%s`", key, of)
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

func (p *compiler) mapArgs(of string, open bool, lookup func(string) (*spec.Field, bool), v playbook.Value, known, chain []string) []arg {
	var args []arg
	for _, e := range v.Entries() {
		f, ok := lookup(e.Key)
		switch {
		case e.NoText:
		case ok:
			args = append(args, p.arg(f.Name, e.Key, f, e.Value, chain))
		case open, spec.IsLater(of, e.Key):
			args = append(args, p.arg(e.Key, e.Key, nil, e.Value, chain))
		default:
			p.unknownArg(e.Key, of, e.Pos, known, chain)
		}
	}
	return args
}

func (p *compiler) arg(name, key string, f *spec.Field, v playbook.Value, chain []string) arg {
	g := arg{name: name, key: key, field: f, value: v}
	if f == nil {
		return g
	}
	if p.plan.Plays {
		p.traps(f, key, v, chain)
	}
	switch f.Kind {
	case spec.Conditions:
		values := []playbook.Value{v}
		if v.Kind() == playbook.List {
			values = v.Items()
		}
		g.conds = p.conditions(values, chain)
	case spec.Expression:
		x, err := p.engine.Expression(v.Text(), p.lang)
		if err != nil {
			p.renderer(nil, chain).wrong(v, err)
			break
		}
		g.expr = x
	case spec.Object:
		if v.Kind() == playbook.Map {
			g.sub = p.mapArgs(name, false, f.Field, v, fieldNames(f.Fields), chain)
		}
	default:
	}
	return g
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
