package eval

import (
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// World is what lookups reach for, of the place that env stands for. What is nil is refused. A function that cannot say
// while planning, because the answer may be another one when the step runs, gives ErrLater: the value is then unknown.
type World struct {
	// File reads a file, searched as actions search theirs: dir is "files" or "templates".
	File func(env Env, dir, name string) (text string, err error)
	// Find gives the path of a file searched in the same way, "" if there is none. Dir may be "vars" as well, and "" where
	// it is for the task to say.
	Find func(env Env, dir, name string) (path string, err error)
	// Glob gives the files that match a pattern, sorted.
	Glob func(env Env, pattern string) ([]string, error)
	// Hosts gives the hosts of the inventory that match a pattern.
	Hosts func(env Env, pattern string) ([]string, error)
	// Env reads a variable of moon's own environment; if nil it is read directly.
	Env func(env Env, name string) (string, bool)
	// Run gives the output of a shell command on this machine, Get the body at a URL.
	Run func(env Env, command string) (string, error)
	Get func(env Env, url string) (string, error)
	// Now is the time.
	Now func(env Env) (time.Time, error)
	// Password gives what a file keeps, and makes the file of what made gives if there is none. The file /dev/null keeps nothing.
	// always says that made gives the same each time.
	Password func(env Env, file string, always bool, made func() (string, error)) (string, error)
}

// ErrLater is what a function of World gives for what is known only when the step runs.
var ErrLater = errors.New("known when the step runs")

// plugin is one way of looking things up. Its terms are the arguments behind its name.
type plugin struct {
	options string // those it takes by name
	run     func(c *input, terms []any) ([]any, error)
}

// plugins by name; filled by init, because template renders.
var plugins map[string]plugin

func init() {
	plugins = map[string]plugin{
		"vars":                {"default", lookupVars},
		"varnames":            {"", lookupVarNames},
		"env":                 {"default", lookupEnv},
		"file":                {"lstrip rstrip", lookupFile},
		"fileglob":            {"", lookupGlob},
		"first_found":         {"files paths skip", lookupFirstFound},
		"template":            {"convert_data template_vars jinja2_native variable_start_string variable_end_string comment_start_string comment_end_string", lookupTemplate},
		"password":            {"length chars seed", lookupPassword},
		"ini":                 {"section file type default re encoding", lookupINI},
		"csvfile":             {"file col delimiter default encoding", lookupCSV},
		"pipe":                {"", lookupPipe},
		"lines":               {"", lookupLines},
		"url":                 {"split_lines", lookupURL},
		"inventory_hostnames": {"", lookupHosts},
		"list":                {"", func(_ *input, terms []any) ([]any, error) { return terms, nil }},
		"items":               {"", func(_ *input, terms []any) ([]any, error) { return onceFlat(terms), nil }},
		"flattened":           {"", lookupFlattened},
		"dict":                {"", lookupDict},
		"sequence":            {"start end count stride format", lookupSequence},
		"together":            {"", lookupTogether},
		"nested":              {"", lookupNested},
		"indexed_items":       {"", lookupIndexed},
		"subelements":         {"", lookupSubelements},
	}
	plugins["cartesian"] = plugins["nested"]
}

// refusedPlugins say why, and what to do instead.
var refusedPlugins = map[string]string{
	"random_choice": "its result would differ from one run to the next",
}

func findPlugin(name string) (plugin, *value.Error) {
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "ansible."), "builtin."), "legacy.")
	name = strings.TrimPrefix(name, "community.general.")
	if p, ok := plugins[name]; ok {
		return p, nil
	}
	if reason, ok := refusedPlugins[name]; ok {
		return plugin{}, &value.Error{Kind: value.Failure, Message: "the lookup `" + name + "` is not available: " + reason, Offset: -1}
	}
	e := value.Misspelt("lookup", name, slices.Sorted(maps.Keys(plugins)))
	e.Kind = value.Failure
	return plugin{}, e
}

// looked is lookup('name', term, …, wantlist=…, errors=…), query and q.
func looked(c *input, list bool) (any, error) {
	if len(c.rest) == 0 {
		return nil, value.Errorf(value.TypeError, "", "needs the name of a lookup")
	}
	name := c.print(c.rest[0])
	p, e := findPlugin(name)
	if e != nil {
		return nil, e
	}
	takes := append(strings.Fields(p.options), "wantlist", "errors")
	for _, option := range value.SortedKeys(c.named) {
		if !slices.Contains(takes, option) {
			return nil, value.Errorf(value.TypeError, "", "has no option `%s` for `%s`", option, name)
		}
	}
	if want, ok := c.named["wantlist"]; ok {
		list = value.Truthy(want)
	}
	found, err := p.run(c, c.rest[1:])
	if err != nil {
		if how := c.print(c.named["errors"]); (how == "ignore" || how == "warn") && !value.IsOpen(err) {
			if list {
				return []any{}, nil
			}
			return nil, nil
		}
		return nil, err
	}
	if found == nil {
		found = []any{}
	}
	if list {
		return found, nil
	}
	return joinedResult(found), nil
}

// joinedResult is what a lookup that is not asked for a list gives: texts with commas between them; a single thing of
// another kind as it is.
func joinedResult(found []any) any {
	parts := make([]string, len(found))
	for i, v := range found {
		s, ok := v.(string)
		if !ok && len(found) == 1 {
			return v
		}
		if !ok {
			return found
		}
		parts[i] = s
	}
	return strings.Join(parts, ",")
}

// LookupItems gives the items of a with_NAME loop over terms, a value as it was rendered. dir is where the action searches its
// files, "" for "files". Missing lists what the items depend on; then there are none.
func (e *Engine) LookupItems(env Env, name string, terms any, dir string) (items []any, missing []value.Missing, err error) {
	defer recovered(&err)
	p, lookupErr := findPlugin(name)
	if lookupErr != nil {
		return nil, nil, lookupErr
	}
	r := e.begin(env, "")
	s := scope{rendering: r}
	plain, err := s.settled(terms, "with_"+name)
	if err == nil {
		plain, err = s.ordinary(plain)
	}
	list, isList := plain.([]any)
	if !isList {
		list = []any{plain}
	}
	if err == nil {
		c := &input{scope: s, name: name, dir: dir}
		items, err = p.run(c, list)
	}
	if o, ok := value.OpenOf(err); ok {
		return nil, o.Missing, nil
	}
	if err != nil {
		return nil, nil, located(s.calleeError("lookup", name, err, -1, 0), "")
	}
	if r.touched {
		items, _ = r.conceal(items).([]any)
	}
	return items, nil, nil
}

// ask words what the world says. name is that of the lookup, term what was asked for.
func ask[T any](name, term string, answer T, err error) (T, error) {
	if errors.Is(err, ErrLater) {
		what := "lookup('" + name + "', '" + term + "')"
		if name == "now" {
			what = "now()"
		}
		return answer, &value.Open{Missing: []value.Missing{{Name: what}}}
	}
	if err != nil {
		if e, ok := value.AsError(err); ok {
			return answer, e
		}
		return answer, value.Errorf(value.Failure, "", "%s", value.Sentence(err.Error()))
	}
	return answer, nil
}

func notHere(name string) error {
	return value.Errorf(value.Failure, "", "`%s` is not available here", name)
}

// texts asks for every term and gathers the answers.
func (c *input) texts(name string, terms []any, asked func(Env, string) (string, error), finish func(string) []any) ([]any, error) {
	out := []any{}
	var missing []value.Missing
	for _, term := range terms {
		answer, err := asked(c.env, c.print(term))
		answer, err = ask(name, c.print(term), answer, err)
		if o, ok := value.OpenOf(err); ok {
			missing = value.UniteMissing(missing, o.Missing)
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := c.grow(len(answer)); err != nil {
			return nil, err
		}
		out = append(out, finish(answer)...)
	}
	if missing != nil {
		return nil, &value.Open{Missing: missing}
	}
	return out, nil
}

func (c *input) option(name string, otherwise bool) bool {
	switch v := c.named[name].(type) {
	case nil:
		return otherwise
	case string:
		return value.SaysYes(v)
	default:
		return value.Truthy(v)
	}
}

func lookupVars(c *input, terms []any) ([]any, error) {
	out := []any{}
	for _, term := range terms {
		name, ok := term.(string)
		if !ok {
			return nil, value.Errorf(value.TypeError, "", "needs the names of variables, not %s", value.KindOf(term))
		}
		v, err := c.eval(&jinja.Variable{At: -1, Name: name})
		if otherwise, ok := c.named["default"]; ok && value.IsUndefined(err) {
			v, err = otherwise, nil
		}
		if e, ok := value.AsError(err); ok && e.Kind == value.UndefinedError {
			e.Offset, e.Width = -1, 0
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func lookupVarNames(c *input, terms []any) ([]any, error) {
	out := []any{}
	for _, term := range terms {
		re, err := c.engine.pattern(c.print(term), false, false)
		if err != nil {
			return nil, err
		}
		names := slices.Compact(slices.Sorted(slices.Values(c.env.Names())))
		for _, name := range names {
			at, err := re.find(name, 0)
			if err != nil {
				return nil, err
			}
			if at != nil {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

func lookupEnv(c *input, terms []any) ([]any, error) {
	out := []any{}
	for _, term := range terms {
		name := c.print(term)
		var value string
		var ok bool
		if c.engine.World.Env != nil {
			value, ok = c.engine.World.Env(c.env, name)
		} else {
			value, ok = os.LookupEnv(name)
		}
		otherwise, given := c.named["default"]
		switch {
		case ok:
			out = append(out, value)
		case given:
			out = append(out, otherwise)
		default:
			out = append(out, "")
		}
	}
	return out, nil
}

func lookupFile(c *input, terms []any) ([]any, error) {
	if c.engine.World.File == nil {
		return nil, notHere("file")
	}
	read := func(env Env, name string) (string, error) { return c.engine.World.File(env, "files", name) }
	return c.texts("file", terms, read, func(text string) []any {
		if c.option("rstrip", true) {
			text = strings.TrimRight(text, whiteSpace)
		}
		if c.option("lstrip", false) {
			text = strings.TrimLeft(text, whiteSpace)
		}
		return []any{text}
	})
}

func lookupGlob(c *input, terms []any) ([]any, error) {
	if c.engine.World.Glob == nil {
		return nil, notHere("fileglob")
	}
	out := []any{}
	for _, term := range deepFlat(terms) {
		paths, err := c.engine.World.Glob(c.env, c.print(term))
		if paths, err = ask("fileglob", c.print(term), paths, err); err != nil {
			return nil, err
		}
		out = append(out, value.ListOf(paths)...)
	}
	return out, nil
}

func lookupHosts(c *input, terms []any) ([]any, error) {
	if c.engine.World.Hosts == nil {
		return nil, notHere("inventory_hostnames")
	}
	parts := make([]string, len(terms))
	for i, term := range terms {
		parts[i] = c.print(term)
	}
	pattern := strings.Join(parts, ":")
	hosts, err := c.engine.World.Hosts(c.env, pattern)
	if hosts, err = ask("inventory_hostnames", pattern, hosts, err); err != nil {
		return nil, err
	}
	return value.ListOf(hosts), nil
}

// candidates are the files that first_found is asked for, in their order.
func (c *input) candidates(term any, paths []string, into *[]string, skip *bool) {
	words := func(v any) []string {
		var all []string
		for _, item := range deepFlat([]any{v}) {
			for word := range strings.FieldsFuncSeq(c.print(item), func(r rune) bool { return r == ',' || r == ';' }) {
				if word = strings.TrimSpace(word); word != "" {
					all = append(all, word)
				}
			}
		}
		return all
	}
	m, isMap := value.MapOf(term)
	switch {
	case isMap:
		files, dirs := words(m["files"]), words(m["paths"])
		if dirs == nil {
			dirs = paths
		}
		if v, ok := m["skip"]; ok {
			*skip = value.Truthy(v)
		}
		for _, dir := range dirs {
			for _, name := range files {
				*into = append(*into, path.Join(dir, name))
			}
		}
		if len(dirs) == 0 {
			*into = append(*into, files...)
		}
	default:
		for _, name := range words(term) {
			if len(paths) == 0 {
				*into = append(*into, name)
			}
			for _, dir := range paths {
				*into = append(*into, path.Join(dir, name))
			}
		}
	}
}

func lookupFirstFound(c *input, terms []any) ([]any, error) {
	if c.engine.World.Find == nil {
		return nil, notHere("first_found")
	}
	var names []string
	skip := c.option("skip", false)
	if c.named["files"] != nil || c.named["paths"] != nil {
		terms = append(slices.Clone(terms), map[string]any{"files": c.named["files"], "paths": c.named["paths"]})
	}
	for _, term := range deepFlat(terms) {
		c.candidates(term, nil, &names, &skip)
	}
	for _, name := range names {
		found, err := c.engine.World.Find(c.env, c.dir, name)
		if found, err = ask("first_found", name, found, err); err != nil {
			return nil, err
		}
		if found != "" {
			return []any{found}, nil
		}
	}
	if skip {
		return []any{}, nil
	}
	return nil, value.Errorf(value.Failure, "add one that is always there, or `skip: true`", "none of these files exists: %s",
		strings.Join(names, ", "))
}

// layered is an environment with some names of its own.
type layered struct {
	Env
	extra func(name string) (any, bool)
}

// Base is the environment that a World was given names for, without what a template has put on top: an included file, or a lookup, sees
// more names than the step that it is for.
func Base(e Env) Env {
	for {
		l, ok := e.(layered)
		if !ok {
			return e
		}
		e = l.Env
	}
}

func (l layered) Lookup(name string) (any, bool) {
	if v, ok := l.extra(name); ok {
		return v, true
	}
	return l.Env.Lookup(name)
}

func lookupTemplate(c *input, terms []any) ([]any, error) {
	if c.engine.World.File == nil {
		return nil, notHere("template")
	}
	extra, _ := value.MapOf(c.named["template_vars"])
	style := jinja.Style{}
	for option, at := range map[string]*string{
		"variable_start_string": &style.VariableStart, "variable_end_string": &style.VariableEnd,
		"comment_start_string": &style.CommentStart, "comment_end_string": &style.CommentEnd,
	} {
		if v, ok := c.named[option]; ok {
			*at = c.print(v)
		}
	}
	env := layered{c.env, func(name string) (any, bool) { v, ok := extra[name]; return v, ok }}
	out := []any{}
	for _, term := range terms {
		name := c.print(term)
		text, err := c.engine.World.File(c.env, "templates", name)
		if text, err = ask("template", name, text, err); err != nil {
			return nil, err
		}
		v, err := c.renderFile(name, text, style, env)
		if err != nil {
			return nil, err
		}
		if s, ok := v.(string); ok && c.option("convert_data", true) {
			if made, ok := listOrMap(s); ok {
				v = made
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// renderFile renders the text of another file. Its mistakes are told with its name: their place is not in this text.
func (r *rendering) renderFile(name, text string, style jinja.Style, env Env) (any, error) {
	if r.files >= maxFiles {
		return nil, value.Errorf(value.Failure, "", "templates include each other without end")
	}
	t, err := r.engine.DocumentIn(text, style)
	if err != nil {
		return nil, value.InFile(name, text, err)
	}
	if t.literal {
		return t.text, nil
	}
	inner := &rendering{engine: r.engine, env: env, text: text, work: r.work, files: r.files + 1, taken: r.taken}
	result, err := t.run(inner)
	if err != nil {
		return nil, value.InFile(name, text, err)
	}
	if len(result.Missing) > 0 {
		return nil, &value.Open{Missing: result.Missing}
	}
	if marked, ok := result.Value.(value.Secret); ok {
		return r.bare(marked), nil
	}
	return result.Value, nil
}

// maxFiles bounds templates that include templates.
const maxFiles = 20

func lookupPipe(c *input, terms []any) ([]any, error) {
	if c.engine.World.Run == nil {
		return nil, notHere("pipe")
	}
	return c.texts("pipe", terms, c.engine.World.Run, func(text string) []any { return []any{strings.TrimRight(text, whiteSpace)} })
}

func lookupLines(c *input, terms []any) ([]any, error) {
	if c.engine.World.Run == nil {
		return nil, notHere("lines")
	}
	return c.texts("lines", terms, c.engine.World.Run, textLines)
}

func lookupURL(c *input, terms []any) ([]any, error) {
	if c.engine.World.Get == nil {
		return nil, notHere("url")
	}
	return c.texts("url", terms, c.engine.World.Get, func(text string) []any {
		if c.option("split_lines", true) {
			return textLines(text)
		}
		return []any{text}
	})
}

func textLines(text string) []any {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return value.ListOf(lines)
}
