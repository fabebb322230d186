package eval

import (
	"maps"

	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/lookups"
	"moon/plan/eval/value"
	"moon/secret/program"
)

// functionsOfSteps and functionsOfPlays are what a template may call by name; plays have those of steps, too. Filled by init: dict and
// namespace evaluate arguments.
var functionsOfSteps, functionsOfPlays map[string]function

type function struct {
	params jinja.Params
	run    func(c *call.Input) (any, error)
}

func init() {
	functionsOfSteps = map[string]function{
		"range":     {params: jinja.Takes("*"), run: rangeOf},
		"dict":      {params: jinja.Takes("..."), run: dictOf},
		"namespace": {params: jinja.Takes("..."), run: newNamespace},
		"env":       {params: jinja.Takes("name default? secret?"), run: readEnvironment},
		"secret":    {params: jinja.Takes("* command? format?"), run: readSecret},
		"cycler":    {params: jinja.Takes("*"), run: newCycler},
		"joiner":    {params: jinja.Takes("sep?"), run: func(c *call.Input) (any, error) { return &joiner{separator: c.ArgText(0, ", ")}, nil }},
	}
	looking := func(list bool) function {
		return function{params: jinja.Takes("..."), run: func(c *call.Input) (any, error) { return lookups.Run(c, list) }}
	}
	functionsOfSteps["lookup"], functionsOfSteps["query"], functionsOfSteps["q"] = looking(false), looking(true), looking(true)
	functionsOfPlays = maps.Clone(functionsOfSteps)
	functionsOfPlays["undef"] = function{params: jinja.Takes("hint?"), run: undefined}
	functionsOfPlays["now"] = function{params: jinja.Takes("utc? fmt?"), run: readClock}
}

type cycler struct {
	items []any
	next  int
}

type joiner struct {
	separator string
	used      bool
}

func rangeOf(c *call.Input) (any, error) {
	bounds := []int{0, 0, 1}
	given := c.Rest
	if len(given) < 1 || len(given) > 3 {
		return nil, value.Errorf(value.TypeError, "", "takes from 1 to 3 arguments, not %d", len(given))
	}
	for i, v := range given {
		n, ok := value.NumberOf(v)
		bound, isInt := n.(int)
		if !ok || !isInt {
			return nil, value.Errorf(value.TypeError, "turn it into a number with `| int`", "needs whole numbers, not %s", value.KindOf(v))
		}
		place := i
		if len(given) == 1 {
			place = 1
		}
		bounds[place] = bound
	}
	from, to, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return nil, value.Errorf(value.Failure, "", "the step of a range cannot be 0")
	}
	whole := value.Range{From: from, Step: step, Len: value.RangeLen(from, to, step)}
	if whole.Len > call.MaxRange {
		return whole, nil
	}
	if err := c.Spend(int(whole.Len)); err != nil {
		return nil, err
	}
	out := make([]any, whole.Len)
	for i := range out {
		out[i] = whole.At(uint64(i))
	}
	return out, nil
}

func dictOf(c *call.Input) (any, error) {
	m, err := c.CollectFields()
	if err != nil {
		return nil, err
	}
	return c.FinishMap(m), nil
}

func newNamespace(c *call.Input) (any, error) {
	fields, err := c.CollectFields()
	if err != nil {
		return nil, err
	}
	return value.NewNamespace(fields), nil
}

// readEnvironment is env('NAME'), env('NAME', 'otherwise') and env('NAME', secret): a variable of moon's own environment. One that
// is read as a secret is not handed on to the steps.
func readEnvironment(c *call.Input) (any, error) {
	name, ok := c.Args[0].(string)
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "needs the name of a variable, not %s", value.KindOf(c.Args[0]))
	}
	// Through the facts and not os.Getenv: the collector lists the use, so that plan and run see the same.
	facts, _ := c.Env.Lookup("facts")
	all, _ := value.MapOf(facts)
	vars, _ := value.MapOf(all["env"])
	text, ok := vars[name].(string)
	switch {
	case ok && c.ArgTruth(2):
		// Added before it is used anywhere, or the first output would show it.
		c.Secrets.AddEnv(name, text)
		c.Touched = true
		return text, nil
	case ok:
		return text, nil
	case c.Has(1):
		return c.Args[1], nil
	}
	return nil, &value.Error{
		Kind: value.UndefinedError, Name: "env('" + name + "')", Message: "the environment variable `" + name + "` is not set",
		Hint: "set it, or give what to take otherwise: env('" + name + "', 'otherwise')", Offset: -1,
	}
}

// readSecret is secret(['pass', 'show', 'db']): what a program prints when the step starts. Its words are one list, one text without a
// shell's signs, or the arguments themselves.
func readSecret(c *call.Input) (any, error) {
	// At the beginning of the text, which may be written as !secret: there is no function for people to find then.
	fail := func(message, hint string) error {
		return &value.Error{Kind: value.Failure, Message: message, Hint: hint, Offset: 0}
	}
	request := program.Request{Format: c.ArgText(1, "")}
	words := c.Rest
	if c.Has(0) {
		words = append([]any{c.Args[0]}, words...)
	}
	if len(words) == 1 {
		if list, isList := words[0].([]any); isList {
			words = list
		} else if text, err := program.Words(c.Print(words[0])); err == nil {
			words = value.ListOf(text)
		} else {
			return nil, fail(err.Error(), "give its words as a list: [pass, show, db]")
		}
	}
	for _, w := range words {
		request.Command = append(request.Command, c.Print(w))
	}
	if wrong, hint := request.Check(); wrong != "" {
		return nil, fail(wrong, hint)
	}
	if c.World.Secret == nil {
		return nil, call.Unavailable("secret")
	}
	v, err := c.World.Secret(c.Env, request)
	if v, err = call.Ask("secret", request.String(), v, err); err != nil {
		if value.IsOpen(err) {
			return nil, err
		}
		return nil, fail(err.Error(), "")
	}
	c.Touched = true
	return v, nil
}

func newCycler(c *call.Input) (any, error) {
	// next() divides by the number of items.
	if len(c.Rest) == 0 {
		return nil, value.Errorf(value.TypeError, "", "needs at least one item")
	}
	return &cycler{items: c.Rest}, nil
}

func (c *cycler) call(name string, f *jinja.Member) (any, error) {
	switch name {
	case "next":
		v := c.items[c.next]
		c.next = (c.next + 1) % len(c.items)
		return v, nil
	case "reset":
		c.next = 0
		return nil, nil
	}
	return nil, &value.Error{
		Kind: value.TypeError, Message: "a cycler has no method `" + name + "`", Offset: f.KeyAt,
		Width: f.End - f.KeyAt,
	}
}

// undefined is undef(hint='…'): a value that must be given, with the reason for who has not given it.
func undefined(c *call.Input) (any, error) {
	hint := c.ArgText(0, "")
	if hint == "" {
		hint = "this must be set, and nothing sets it"
	}
	return nil, &value.Error{Kind: value.UndefinedError, Name: "undef()", Message: hint, Offset: -1}
}

// readClock is now(), now(utc=true) and now(fmt='%Y-%m-%d').
func readClock(c *call.Input) (any, error) {
	if c.World.Now == nil {
		return nil, call.Unavailable("now")
	}
	t, err := c.World.Now(c.Env)
	if t, err = call.Ask("now", "", t, err); err != nil {
		return nil, err
	}
	if c.ArgTruth(0) {
		t = t.UTC()
	}
	if format := c.ArgText(1, ""); format != "" {
		return filters.FormatTime(t, format)
	}
	return filters.NewDate(c, t, false), nil
}
