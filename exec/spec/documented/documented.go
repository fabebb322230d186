package documented

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Module is what a module says of the arguments that it takes.
type Module struct {
	Options []Option `json:"options,omitempty"`
	// Declared are arguments that its text declares without documenting them: they are taken, and never suggested.
	Declared []string `json:"declared,omitempty"`
	Rules    Rules    `json:"rules,omitzero"`
}

// Option is one argument.
type Option struct {
	Name     string   `json:"name"`
	Aliases  []string `json:"aliases,omitempty"`
	Type     string   `json:"type,omitempty"` // as Ansible calls it; "" is str
	Elements string   `json:"elements,omitempty"`
	Required bool     `json:"required,omitempty"`
	Default  string   `json:"default,omitempty"` // as a person would write it
	Choices  []string `json:"choices,omitempty"`
	Doc      string   `json:"doc,omitempty"` // one sentence
	Options  []Option `json:"options,omitempty"`
	NoLog    bool     `json:"no_log,omitempty"` // its value is secret
}

// Rules are what holds between arguments.
type Rules struct {
	Exclusive [][]string `json:"exclusive,omitempty"` // at most one of each
	Together  [][]string `json:"together,omitempty"`  // all of each, or none
	OneOf     [][]string `json:"one_of,omitempty"`    // at least one of each
	If        []Need     `json:"if,omitempty"`
}

// Need says that an argument of a value needs others.
type Need struct {
	Option string   `json:"option"`
	Value  string   `json:"value"`
	Needs  []string `json:"needs"`
	Any    bool     `json:"any,omitempty"` // one of them is enough
}

// Problem is something wrong with arguments, as package spec has it.
type Problem struct{ Field, Message, Hint string }

// Find finds an option by its name or an alias.
func Find(options []Option, name string) (*Option, bool) {
	for i := range options {
		if o := &options[i]; o.Name == name || slices.Contains(o.Aliases, name) {
			return o, true
		}
	}
	return nil, false
}

// Check says what is wrong with the arguments of an action. Names that nothing declares have been refused with their places before.
func (m *Module) Check(action string, values map[string]any) []Problem {
	c := checker{action: action, declared: m.Declared}
	c.checkAll(m.Options, values, nil)
	if len(c.problems) == 0 {
		c.checkRules(m, values)
	}
	return c.problems
}

// Secrets are the texts and numbers that secret options are given, at any depth.
func Secrets(options []Option, values map[string]any) (list []string) {
	for i := range options {
		o := &options[i]
		v, given := valueOf(o, values)
		if !given {
			continue
		}
		if o.NoLog {
			list = append(list, leaves(v)...)
			continue
		}
		for _, item := range elements(v) {
			if inner, ok := item.(map[string]any); ok {
				list = append(list, Secrets(o.Options, inner)...)
			}
		}
	}
	return list
}

// leaves are the texts and numbers in a value.
func leaves(v any) (list []string) {
	switch v := v.(type) {
	case bool:
	case []any:
		for _, item := range v {
			list = append(list, leaves(item)...)
		}
	case map[string]any:
		for _, item := range v {
			list = append(list, leaves(item)...)
		}
	default:
		if word := text(v); word != "" {
			list = append(list, word)
		}
	}
	return list
}

type checker struct {
	action   string
	declared []string
	problems []Problem
}

func (c *checker) report(at []string, hint, format string, args ...any) {
	c.problems = append(c.problems, Problem{strings.Join(at, "."), fmt.Sprintf(format, args...), hint})
}

// checkAll checks the arguments of a level.
func (c *checker) checkAll(options []Option, values map[string]any, above []string) {
	for i := range options {
		o := &options[i]
		at := append(slices.Clip(above), o.Name)
		v, given := valueOf(o, values)
		switch {
		case !given && o.Required:
			c.report(at, "", "`%s` needs `%s`", c.action, strings.Join(at, "."))
		case v != nil:
			c.checkOption(o, v, at)
		}
	}
	if len(above) == 0 || len(options) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := Find(options, name); !ok && !slices.Contains(c.declared, name) {
			at := append(slices.Clip(above), name)
			c.report(at, suggest(name, options), "`%s` has no field `%s`", c.action, strings.Join(at, "."))
		}
	}
}

func valueOf(o *Option, values map[string]any) (v any, given bool) {
	for _, name := range append([]string{o.Name}, o.Aliases...) {
		if v, ok := values[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// checkOption checks a value that is given, and what is inside of it.
func (c *checker) checkOption(o *Option, v any, at []string) {
	here := strings.Join(at, ".")
	if !fits(o.Type, v) {
		c.report(at, "", "`%s` must be %s, found %s", here, typeWord(o.Type), describe(v))
		return
	}
	if o.Type == "list" {
		c.checkElements(o, v, at)
		return
	}
	c.checkChoice(o, v, at)
	if inner, ok := v.(map[string]any); ok && len(o.Options) > 0 {
		c.checkAll(o.Options, inner, at)
	}
}

// checkElements checks what a list holds.
func (c *checker) checkElements(o *Option, v any, at []string) {
	for _, item := range elements(v) {
		if item == nil {
			continue
		}
		if !fits(o.Elements, item) {
			c.report(at, "", "`%s` must be a list of %s, found %s in it", strings.Join(at, "."), pluralWord(o.Elements), describe(item))
			return
		}
		c.checkChoice(o, item, at)
		if inner, ok := item.(map[string]any); ok && len(o.Options) > 0 {
			c.checkAll(o.Options, inner, at)
		}
	}
}

// checkChoice checks a value against the words that are allowed.
func (c *checker) checkChoice(o *Option, v any, at []string) {
	if len(o.Choices) == 0 || isChoice(o.Choices, v) {
		return
	}
	c.report(at, suggestWord(text(v), o.Choices), "`%s` must be one of %s, found %s", strings.Join(at, "."), strings.Join(o.Choices, ", "),
		describe(v))
}

// checkRules checks what holds between arguments.
func (c *checker) checkRules(m *Module, values map[string]any) {
	// A null counts as not given: so the module counts it, too.
	has := func(name string) bool {
		o, ok := Find(m.Options, name)
		if !ok {
			return values[name] != nil
		}
		v, _ := valueOf(o, values)
		return v != nil
	}
	given := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !has(name) })
	}
	for _, names := range m.Rules.Exclusive {
		if both := given(names); len(both) > 1 {
			c.report(both[1:2], "leave one out", "%s of `%s` exclude each other", quoteAll(both, "and"), c.action)
		}
	}
	for _, names := range m.Rules.Together {
		if some := given(names); len(some) > 0 && len(some) < len(names) {
			c.report(some[:1], "", "%s of `%s` are given together or not at all", quoteAll(names, "and"), c.action)
		}
	}
	for _, names := range m.Rules.OneOf {
		if len(given(names)) == 0 {
			c.report(nil, "", "`%s` needs one of %s", c.action, quoteAll(names, "or"))
		}
	}
	for _, need := range m.Rules.If {
		c.checkNeed(m, need, values, has)
	}
}

func (c *checker) checkNeed(m *Module, need Need, values map[string]any, has func(string) bool) {
	v := any(nil)
	if o, ok := Find(m.Options, need.Option); ok {
		if v, _ = valueOf(o, values); v == nil && o.Default != "" {
			v = o.Default
		}
	}
	if v == nil || !isChoice([]string{need.Value}, v) {
		return
	}
	missing := slices.DeleteFunc(slices.Clone(need.Needs), has)
	switch {
	case len(missing) == 0 || need.Any && len(missing) < len(need.Needs):
	case need.Any:
		c.report(nil, "", "`%s` with `%s: %s` needs one of %s", c.action, need.Option, need.Value, quoteAll(need.Needs, "or"))
	default:
		c.report(nil, "", "`%s` with `%s: %s` needs %s", c.action, need.Option, need.Value, quoteAll(missing, "and"))
	}
}

func quoteAll(names []string, joined string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = "`" + name + "`"
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " " + joined + " " + quoted[last]
}
