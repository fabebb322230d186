package lookups

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"moon/internal/pattern"
	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// plugin is one way of looking things up. Its terms are the arguments behind its name.
type plugin struct {
	options string // those it takes by name
	Run     func(c *call.Input, terms []any) ([]any, error)
	later   string // those that only Ansible's takes
}

// takes reports whether the lookup has an option, which it then takes or refuses. wantlist and errors are of lookup itself.
func (p *plugin) takes(option string) bool {
	return p.options == "..." || option == "wantlist" || option == "errors" || slices.Contains(strings.Fields(p.options), option)
}

// Ignores reports whether an option of a lookup is one that it does not have, and that plays may still give: nothing comes of it,
// as with Ansible. One that would change what Ansible finds is not ignored.
func Ignores(s *call.Shared, name, option string) bool {
	p, err := Find(s, name)
	return err == nil && s.IgnoresOptions() && !p.takes(option) && !slices.Contains(strings.Fields(p.later), option)
}

// plugins by name; filled by init, because template renders.
var plugins map[string]plugin

func init() {
	plugins = map[string]plugin{
		"vars":                {"default", lookupVars, ""},
		"varnames":            {"", lookupVarNames, ""},
		"env":                 {"default", lookupEnv, ""},
		"file":                {"lstrip rstrip", lookupFile, ""},
		"fileglob":            {"", lookupGlob, ""},
		"first_found":         {"files paths skip", lookupFirstFound, ""},
		"template":            {"convert_data template_vars jinja2_native variable_start_string variable_end_string comment_start_string comment_end_string", lookupTemplate, ""},
		"password":            {"length chars seed", lookupPassword, "encrypt ident"},
		"ini":                 {"section file type default re encoding", lookupINI, "case_sensitive"},
		"csvfile":             {"file col delimiter default encoding", lookupCSV, "keycol"},
		"pipe":                {"", lookupPipe, ""},
		"lines":               {"", lookupLines, ""},
		"url":                 {"split_lines", lookupURL, "validate_certs use_proxy username password headers force timeout http_agent force_basic_auth follow_redirects use_gssapi unix_socket ca_path unredirected_headers ciphers"},
		"inventory_hostnames": {"", lookupHosts, ""},
		"collection_version":  {"result_not_found result_no_version", lookupVersions, ""},
		"list":                {"", func(_ *call.Input, terms []any) ([]any, error) { return terms, nil }, ""},
		"items":               {"", func(_ *call.Input, terms []any) ([]any, error) { return onceFlat(terms), nil }, ""},
		"flattened":           {"", lookupFlattened, ""},
		"dict":                {"", lookupDict, ""},
		"sequence":            {"start end count stride format", lookupSequence, ""},
		"together":            {"", lookupTogether, ""},
		"nested":              {"", lookupNested, ""},
		"indexed_items":       {"", lookupIndexed, ""},
		"subelements":         {"", lookupSubelements, ""},
	}
	plugins["cartesian"] = plugins["nested"]
}

// refusedPlugins say why, and what to do instead.
var refusedPlugins = map[string]string{
	"random_choice": "its result would differ from one run to the next",
}

// Find finds a lookup, with or without the collection it is from.
func Find(s *call.Shared, name string) (plugin, *value.Error) {
	given, err := filters.Foreign(s, name, true)
	if given == nil && err == nil {
		p, err := findOwn(name)
		if err == nil || !err.Lacking {
			return p, err
		}
		if given, err := filters.Foreign(s, name, false); given != nil || err != nil {
			return foreign(given), err
		}
		return p, value.Misspelt("lookup", name, append(Names(), s.ForeignNames(call.Lookup)...))
	}
	return foreign(given), err
}

// foreign is a lookup that is not moon's own.
func foreign(given call.Callee) plugin {
	return plugin{options: "...", Run: func(c *call.Input, terms []any) ([]any, error) {
		in := *c
		in.Rest = terms
		v, err := given.Call(&in)
		found, _ := v.([]any)
		return found, err
	}}
}

// findOwn finds a lookup of moon.
func findOwn(name string) (plugin, *value.Error) {
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "ansible."), "builtin."), "legacy.")
	name = strings.TrimPrefix(name, "community.general.")
	if p, ok := plugins[name]; ok {
		return p, nil
	}
	if reason, ok := refusedPlugins[name]; ok {
		return plugin{}, &value.Error{Kind: value.Failure, Message: "the lookup `" + name + "` is not available: " + reason, Offset: -1}
	}
	e := value.Misspelt("lookup", name, Names())
	e.Kind = value.Failure
	return plugin{}, e
}

// Run is lookup('name', term, …, wantlist=…, errors=…), query and q.
func Run(c *call.Input, list bool) (any, error) {
	if len(c.Rest) == 0 {
		return nil, value.Errorf(value.TypeError, "", "needs the name of a lookup")
	}
	name := c.Print(c.Rest[0])
	p, e := Find(c.Shared, name)
	if e != nil {
		return nil, e
	}
	// Sorted, so that the same mistake gives the same message.
	for _, option := range value.SortedKeys(c.Named) {
		switch {
		case p.takes(option) || Ignores(c.Shared, name, option):
		case slices.Contains(strings.Fields(p.later), option):
			return nil, value.Errorf(value.Failure, "", "the option `%s` of `%s` is not supported", option, name)
		default:
			return nil, value.Errorf(value.TypeError, "", "has no option `%s` for `%s`", option, name)
		}
	}
	if want, ok := c.Named["wantlist"]; ok {
		list = value.Truthy(want)
	}
	found, err := p.Run(c, c.Rest[1:])
	if err != nil {
		// An open value is not an error that may be ignored: it will be there.
		if how := c.Print(c.Named["errors"]); (how == "ignore" || how == "warn") && !value.IsOpen(err) {
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
// another kind as it is; an empty list if there is none, as in Ansible.
func joinedResult(found []any) any {
	if len(found) == 0 {
		return found
	}
	parts := make([]string, len(found))
	for i, v := range found {
		s, ok := v.(string)
		if !ok && len(found) == 1 {
			return v
		}
		if !ok {
			// Python could not join them, so Ansible gives the list.
			return found
		}
		parts[i] = s
	}
	return strings.Join(parts, ",")
}

// askForTerms asks for every term and gathers the answers.
func askForTerms(
	c *call.Input, name string, terms []any, asked func(value.Env, string) (string, error), finish func(string) []any,
) ([]any, error) {
	out := []any{}
	var missing []value.Missing
	for _, term := range terms {
		answer, err := asked(c.Env, c.Print(term))
		answer, err = call.Ask(name, c.Print(term), answer, err)
		if o, ok := value.OpenOf(err); ok {
			missing = value.UniteMissing(missing, o.Missing)
			// All terms are asked, so that all that is missing is named.
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := c.Grow(len(answer)); err != nil {
			return nil, err
		}
		out = append(out, finish(answer)...)
	}
	if missing != nil {
		return nil, &value.Open{Missing: missing}
	}
	return out, nil
}

func readOption(c *call.Input, name string, otherwise bool) bool {
	switch v := c.Named[name].(type) {
	case nil:
		return otherwise
	case string:
		return value.SaysYes(v)
	default:
		return value.Truthy(v)
	}
}

func lookupVars(c *call.Input, terms []any) ([]any, error) {
	out := []any{}
	for _, term := range terms {
		name, ok := term.(string)
		if !ok {
			return nil, value.Errorf(value.TypeError, "", "needs the names of variables, not %s", value.KindOf(term))
		}
		// As a name in the template would be, with the same rules for what is unknown, secret or faulty.
		v, err := c.Eval(&jinja.Variable{At: -1, Name: name})
		if otherwise, ok := c.Named["default"]; ok && value.IsUndefined(err) {
			if _, lacks := otherwise.(value.Fault); !lacks {
				v, err = otherwise, nil
			}
		}
		if e, ok := value.AsError(err); ok && e.Kind == value.UndefinedError {
			// The name stands nowhere in the text: its place is that of the call.
			e.Offset, e.Width = -1, 0
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// lookupVersions gives the versions of collections: null for one that is not installed, * for one that has none.
func lookupVersions(c *call.Input, terms []any) ([]any, error) {
	if c.World.Version == nil {
		return nil, call.Unavailable("collection_version")
	}
	without, ok := c.Named["result_no_version"]
	if !ok {
		without = "*"
	}
	out := []any{}
	for _, term := range terms {
		name := c.Print(term)
		if !collectionName.MatchString(name) {
			return nil, value.Errorf(value.Failure, "write NAMESPACE.NAME", "`%s` is not the name of a collection", name)
		}
		switch version, found := c.World.Version(name); {
		case !found:
			out = append(out, c.Named["result_not_found"])
		case version == "":
			out = append(out, without)
		default:
			out = append(out, version)
		}
	}
	return out, nil
}

var collectionName = pattern.New(`^[A-Za-z_]\w*\.[A-Za-z_]\w*$`)

func lookupVarNames(c *call.Input, terms []any) ([]any, error) {
	out := []any{}
	for _, term := range terms {
		re, err := c.CompilePattern(c.Print(term), false, false)
		if err != nil {
			return nil, err
		}
		// Sorted, so that the list is the same each time.
		names := slices.Compact(slices.Sorted(slices.Values(c.Env.Names())))
		for _, name := range names {
			at, err := re.Find(name, 0)
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

func lookupEnv(c *call.Input, terms []any) ([]any, error) {
	out := []any{}
	for _, term := range terms {
		name := c.Print(term)
		var found string
		var ok bool
		if c.World.Env != nil {
			found, ok = c.World.Env(c.Env, name)
		} else {
			found, ok = os.LookupEnv(name)
		}
		otherwise, given := c.Named["default"]
		switch {
		case ok:
			out = append(out, found)
		case given:
			if lacks, ok := otherwise.(value.Fault); ok {
				return nil, lacks.Err
			}
			out = append(out, otherwise)
		// Ansible gives an empty text for what is not set.
		default:
			out = append(out, "")
		}
	}
	return out, nil
}

func lookupFile(c *call.Input, terms []any) ([]any, error) {
	if c.World.File == nil {
		return nil, call.Unavailable("file")
	}
	read := func(env value.Env, name string) (string, error) { return c.World.File(env, "files", name) }
	return askForTerms(c, "file", terms, read, func(text string) []any {
		// Ansible drops the space at the end unless it is asked not to.
		if readOption(c, "rstrip", true) {
			text = strings.TrimRight(text, filters.WhiteSpace)
		}
		if readOption(c, "lstrip", false) {
			text = strings.TrimLeft(text, filters.WhiteSpace)
		}
		return []any{text}
	})
}

func lookupGlob(c *call.Input, terms []any) ([]any, error) {
	if c.World.Glob == nil {
		return nil, call.Unavailable("fileglob")
	}
	out := []any{}
	for _, term := range deepFlat(terms) {
		paths, err := c.World.Glob(c.Env, c.Print(term))
		if paths, err = call.Ask("fileglob", c.Print(term), paths, err); err != nil {
			return nil, err
		}
		// No match is not an error: the loop over it runs for nothing.
		out = append(out, value.ListOf(paths)...)
	}
	return out, nil
}

func lookupHosts(c *call.Input, terms []any) ([]any, error) {
	if c.World.Hosts == nil {
		return nil, call.Unavailable("inventory_hostnames")
	}
	parts := make([]string, len(terms))
	for i, term := range terms {
		parts[i] = c.Print(term)
	}
	// Several terms are one pattern: a later one may exclude what an earlier one matched.
	pattern := strings.Join(parts, ":")
	hosts, err := c.World.Hosts(c.Env, pattern)
	if hosts, err = call.Ask("inventory_hostnames", pattern, hosts, err); err != nil {
		return nil, err
	}
	return value.ListOf(hosts), nil
}

// listCandidates gives the files that first_found is asked for, in their order.
func listCandidates(c *call.Input, term any, paths []string, into *[]string, skip *bool) {
	words := func(v any) []string {
		var all []string
		for _, item := range deepFlat([]any{v}) {
			// Ansible splits at both signs.
			for word := range strings.FieldsFuncSeq(c.Print(item), func(r rune) bool { return r == ',' || r == ';' }) {
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
		// Each directory with all files before the next directory: the order is what first_found is about.
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

func lookupFirstFound(c *call.Input, terms []any) ([]any, error) {
	if c.World.Find == nil {
		return nil, call.Unavailable("first_found")
	}
	var names []string
	skip := readOption(c, "skip", false)
	if c.Named["files"] != nil || c.Named["paths"] != nil {
		// A copy: the terms are the arguments of the call.
		terms = append(slices.Clone(terms), map[string]any{"files": c.Named["files"], "paths": c.Named["paths"]})
	}
	for _, term := range deepFlat(terms) {
		listCandidates(c, term, nil, &names, &skip)
	}
	for _, name := range names {
		found, err := c.World.Find(c.Env, c.Dir, name)
		if found, err = call.Ask("first_found", name, found, err); err != nil {
			return nil, err
		}
		// The first that is there: the others are not asked for.
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

func lookupTemplate(c *call.Input, terms []any) ([]any, error) {
	if c.World.File == nil {
		return nil, call.Unavailable("template")
	}
	extra, _ := value.MapOf(c.Named["template_vars"])
	style := jinja.Style{}
	for option, at := range map[string]*string{
		"variable_start_string": &style.VariableStart, "variable_end_string": &style.VariableEnd,
		"comment_start_string": &style.CommentStart, "comment_end_string": &style.CommentEnd,
	} {
		if v, ok := c.Named[option]; ok {
			*at = c.Print(v)
		}
	}
	// On top of the variables, which template_vars hides.
	env := call.Layered{Env: c.Env, Extra: func(name string) (any, bool) { v, ok := extra[name]; return v, ok }}
	out := []any{}
	for _, term := range terms {
		name := c.Print(term)
		text, err := c.World.File(c.Env, "templates", name)
		if text, err = call.Ask("template", name, text, err); err != nil {
			return nil, err
		}
		v, err := c.Evaluator.RenderFile(name, text, style, env)
		if err != nil {
			return nil, err
		}
		if s, ok := v.(string); ok && readOption(c, "convert_data", true) {
			// Ansible makes data of what looks like it, unless convert_data=false.
			if made, ok := value.ParseListOrMap(s); ok {
				v = made
			}
		}
		out = append(out, v)
	}
	return out, nil
}

func lookupPipe(c *call.Input, terms []any) ([]any, error) {
	if c.World.Run == nil {
		return nil, call.Unavailable("pipe")
	}
	return askForTerms(c, "pipe", terms, c.World.Run, func(text string) []any { return []any{strings.TrimRight(text, filters.WhiteSpace)} })
}

func lookupLines(c *call.Input, terms []any) ([]any, error) {
	if c.World.Run == nil {
		return nil, call.Unavailable("lines")
	}
	return askForTerms(c, "lines", terms, c.World.Run, textLines)
}

func lookupURL(c *call.Input, terms []any) ([]any, error) {
	if c.World.Get == nil {
		return nil, call.Unavailable("url")
	}
	return askForTerms(c, "url", terms, c.World.Get, func(text string) []any {
		if readOption(c, "split_lines", true) {
			return textLines(text)
		}
		return []any{text}
	})
}

func textLines(text string) []any {
	var lines []string
	for line := range strings.Lines(text) {
		// Also without the \r of a text from the web.
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return value.ListOf(lines)
}

// Names lists the lookups, sorted.
func Names() []string { return slices.Sorted(maps.Keys(plugins)) }
