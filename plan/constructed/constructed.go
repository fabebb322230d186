package constructed

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// Construction is a source for Ansible's plugin constructed: variables and groups that are made of what hosts have already.
type Construction struct {
	source

	Files bool // variables of group_vars and host_vars count, too

	x                      *expressions
	strict                 bool
	leading                bool // a group without a prefix begins with the separator
	compose, groups, keyed playbook.Value
	said                   map[diag.Pos]bool
}

var constructionKeys = []string{
	"plugin", "strict", "compose", "groups", "keyed_groups", "leading_separator", "use_vars_plugins", "use_extra_vars",
}

var keyedKeys = []string{"key", "prefix", "separator", "parent_group", "default_value", "trailing_separator"}

// Membership is a group that a host is in, and the group that this one is in; "": none.
type Membership struct {
	Group, Parent string
	Pos           diag.Pos
}

// NewConstruction reads a source. What is wrong goes to report.
func NewConstruction(f *playbook.File, root playbook.Value, report func(diag.Diagnostic)) (*Construction, bool) {
	c := &Construction{source: source{f, report}, x: newExpressions(), said: map[diag.Pos]bool{}}
	c.checkKeys(root, constructionKeys, "the plugin constructed")
	c.strict, c.leading = c.flagOf(root, "strict", false), c.flagOf(root, "leading_separator", true)
	c.Files = c.flagOf(root, "use_vars_plugins", false)
	if extra, ok := root.Get("use_extra_vars"); ok && c.flagOf(root, "use_extra_vars", false) {
		c.failAt(extra.Pos(), "write the value into the inventory", "variables that are given with -e are not known while the inventory is read")
		return nil, false
	}
	c.compose, c.groups = c.partOf(root, "compose", playbook.Map), c.partOf(root, "groups", playbook.Map)
	c.keyed = c.partOf(root, "keyed_groups", playbook.List)
	for _, k := range c.keyed.Items() {
		if k.Kind() != playbook.Map {
			c.failAt(k.Pos(), "write `- key: EXPRESSION`", "an entry of `keyed_groups` is a map; this is %s", k.Kind())
			return nil, false
		}
		c.checkKeys(k, keyedKeys, "`keyed_groups`")
		if _, ok := k.Get("key"); !ok {
			c.failAt(k.Pos(), "write `- key: EXPRESSION`", "an entry of `keyed_groups` has no `key`")
			return nil, false
		}
		otherwise, _ := k.Get("default_value")
		if trailing, _ := k.Get("trailing_separator"); otherwise.Kind() != playbook.Null && trailing.Kind() != playbook.Null {
			c.failAt(trailing.Pos(), "take one of them", "`default_value` and `trailing_separator` exclude each other")
			return nil, false
		}
	}
	return c, true
}

// source is a file that says what is to be made.
type source struct {
	file   *playbook.File
	report func(diag.Diagnostic)
}

func (s source) failAt(pos diag.Pos, hint, format string, args ...any) {
	s.report(diag.Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// checkKeys warns of keys that mean nothing.
func (s source) checkKeys(v playbook.Value, known []string, of string) {
	for _, e := range v.Entries() {
		if !slices.Contains(known, e.Key) && !e.NoText {
			s.report(diag.Diagnostic{
				Severity: diag.Warning, Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Hint: suggest.DidYouMean(e.Key, known),
				Message: fmt.Sprintf("the key `%s` means nothing to %s", e.Key, of),
			})
		}
	}
}

// flagOf is a key that is true or false.
func (s source) flagOf(root playbook.Value, key string, usual bool) bool {
	v, ok := root.Get(key)
	switch text := strings.ToLower(v.Text()); {
	case !ok || v.Kind() == playbook.Null:
		return usual
	case v.Kind() == playbook.Bool:
		return v.Bool()
	case value.SaysYesOrNo(text):
		return value.SaysYes(text)
	}
	s.failAt(v.Pos(), "", "`%s` is true or false; this is %s", key, v.Kind())
	return usual
}

// partOf is a key with a map or a list.
func (s source) partOf(root playbook.Value, key string, kind playbook.Kind) playbook.Value {
	v, _ := root.Get(key)
	if v.Kind() != kind && v.Kind() != playbook.Null {
		s.failAt(v.Pos(), "", "`%s` is %s; this is %s", key, kind, v.Kind())
		return playbook.Value{}
	}
	return v
}

// failed says of an expression that it has no value, if the source wants to know. One that has none on any host is a mistake in any case.
func (c *Construction) failed(at playbook.Value, h *Host, err error) {
	if c.said[at.Pos()] { // for other hosts it may have none either
		return
	}
	e, ok := value.AsError(err)
	switch {
	case !c.strict && ok && e.Kind == value.SyntaxError:
		c.said[at.Pos()] = true
		c.report(diag.Diagnostic{Severity: diag.Warning, Pos: at.Pos(), Message: err.Error(), Hint: "as with Ansible, nothing comes of it"})
	case c.strict:
		c.said[at.Pos()] = true
		c.failAt(at.Pos(), "without `strict: true` a host for which it has no value is left as it is", "on the host `%s`: %s", h.Name, err)
	}
}

// evaluate is the value of an expression without {{ }}.
func (c *Construction) evaluate(v playbook.Value, names value.Env) (any, error) {
	return c.x.evaluate("{{"+v.Text()+"}}", names)
}

// Compose are the variables that a host gets.
func (c *Construction) Compose(h *Host) []playbook.Entry {
	names := newNames(h, c.x)
	var made strings.Builder
	made.WriteByte('{')
	for _, e := range c.compose.Entries() {
		v, err := c.evaluate(e.Value, names)
		if err != nil {
			c.failed(e.Value, h, err)
			continue
		}
		if made.Len() > 1 {
			made.WriteByte(',')
		}
		made.WriteString(value.PythonJSON(e.Key) + ":" + value.PythonJSON(value.Plain(v)))
	}
	made.WriteByte('}')
	// As a text of its own, so that what is made of secrets is secret, too.
	f := &playbook.File{Name: c.file.Name + ", for " + h.Name, Path: c.file.Path, Text: []byte(made.String()), Secret: names.secret}
	var ds diag.List
	vars, _ := playbook.JSON(f, &ds)
	for _, d := range ds {
		c.report(d)
	}
	return vars.Entries()
}

// Groups are the groups that a host gets into.
func (c *Construction) Groups(h *Host) (in []Membership) {
	names := newNames(h, c.x)
	for _, e := range c.groups.Entries() {
		v, err := c.x.evaluate("{% if "+e.Value.Text()+" %} True {% else %} False {% endif %}", names)
		if err != nil {
			c.failed(e.Value, h, err)
		} else if strings.TrimSpace(value.PythonText(v)) == "True" {
			in = append(in, Membership{Group: safeName(e.Key), Pos: e.Pos})
		}
	}
	for _, k := range c.keyed.Items() {
		in = append(in, c.keyedGroups(h, k, names)...)
	}
	return in
}

// keyedGroups are the groups that an entry of keyed_groups names.
func (c *Construction) keyedGroups(h *Host, k playbook.Value, names *hostNames) (in []Membership) {
	key, _ := k.Get("key")
	v, err := c.evaluate(key, names)
	if err != nil {
		c.failed(key, h, err)
		return nil
	}
	otherwise, _ := k.Get("default_value")
	hasDefault := otherwise.Kind() != playbook.Null
	if !value.Truthy(v) && (v != "" || !hasDefault) {
		// An empty list or map is not a mistake: it names no groups.
		if list, isList := v.([]any); c.strict && (!isList || len(list) > 0) && !value.IsMapping(v) {
			c.failed(key, h, fmt.Errorf("the key `%s` is empty", key.Text()))
		}
		return nil
	}
	separator := "_"
	if s, ok := k.Get("separator"); ok {
		separator = s.Text()
	}
	trailing, _ := k.Get("trailing_separator")
	bare, ok := keyedNames(v, separator, otherwise.Text(), hasDefault, trailing.Kind() == playbook.Bool && !trailing.Bool())
	if !ok {
		c.failAt(key.Pos(), "", "the key of a group is a text, a list or a map; on the host `%s` it is %s", h.Name, value.KindOf(v))
		return nil
	}
	parent, ok := c.parentOf(h, k, names)
	if !ok {
		return nil
	}
	prefix, _ := k.Get("prefix")
	if prefix.Text() == "" && !c.leading {
		separator = ""
	}
	for _, name := range bare {
		in = append(in, Membership{Group: safeName(prefix.Text() + separator + name), Parent: safeName(parent), Pos: k.Pos()})
	}
	return in
}

// parentOf is the group that the groups of an entry are in; "": none.
func (c *Construction) parentOf(h *Host, k playbook.Value, names *hostNames) (parent string, ok bool) {
	v, _ := k.Get("parent_group")
	if v.Text() == "" {
		return "", true
	}
	made, err := c.x.evaluate(v.Text(), names)
	if err != nil {
		c.failed(v, h, err)
		return "", false
	}
	return value.PythonText(made), true
}

// keyedNames are the names of groups that the value of a key stands for, before a prefix comes in front of them.
func keyedNames(v any, separator, otherwise string, hasDefault, bare bool) (names []string, ok bool) {
	orDefault := func(text string) string {
		if text == "" && hasDefault {
			return otherwise
		}
		return text
	}
	switch v := v.(type) {
	case string:
		return []string{orDefault(v)}, true
	case int, float64, bool, value.Number: // what Ansible calculates is text already
		return []string{value.PythonText(v)}, true
	case []any:
		for _, item := range v {
			names = append(names, orDefault(value.PythonText(item)))
		}
		return names, true
	}
	if !value.IsMapping(v) {
		return nil, false
	}
	for _, key := range value.KeysOf(v) {
		entry, _ := value.EntryOf(v, key)
		text := value.PythonText(entry)
		if text == "" && !hasDefault && bare {
			names = append(names, key)
			continue
		}
		names = append(names, key+separator+orDefault(text))
	}
	return names, true
}

// safeName is the name of a group without what no variable has in its name.
func safeName(name string) string {
	first := true
	return strings.Map(func(r rune) rune {
		ok := r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) && (!first || !unicode.IsDigit(r))
		if first = false; ok {
			return r
		}
		return '_'
	}, name)
}
