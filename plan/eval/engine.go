package eval

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"moon/plan/dialect"
	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/lookups"
	"moon/plan/eval/value"
)

// Engine compiles templates, conditions and expressions, and keeps what it compiled. It is safe for concurrent use.
type Engine struct {
	call.Shared

	templates, documents cache[Template]
	conditions           [2]cache[Condition]
	expressions          [2]cache[Expression]
}

// cache keeps what was compiled, by its text.
type cache[T any] struct {
	mu   sync.RWMutex
	kept map[string]*T
}

// New returns an engine with the built-in filters, tests and functions.
func New() *Engine {
	return &Engine{Shared: call.Shared{MaxSteps: call.MaxSteps}}
}

func (e *Engine) isFunction(name string) bool {
	_, ok := e.builtin(name)
	return ok
}

// builtin finds a function that the form of playbook has.
func (e *Engine) builtin(name string) (function, bool) {
	f, ok := formOf(e.Dialect).functions()[name]
	return f, ok
}

func (e *Engine) lookupError(name string) *value.Error {
	_, err := lookups.Find(&e.Shared, name)
	return err
}

func (e *Engine) ignores(name, option string) bool { return lookups.Ignores(&e.Shared, name, option) }

// Converts reports whether a list or a map becomes text where text is wanted: JSON if that may be meant, or else as Python prints it.
func (e *Engine) Converts() bool { return formOf(e.Dialect).converts }

// ReadItems is what a loop is over if that is a text: in plays the list that it is written like.
func (e *Engine) ReadItems(v any) any {
	text, isText := v.(string)
	if !isText || !e.Converts() {
		return v
	}
	if made, ok := readText(text, false); ok {
		return made
	}
	return v
}

func (e *Engine) functionNames() []string {
	return slices.Sorted(maps.Keys(formOf(e.Dialect).functions()))
}

// Template compiles text. The first newline after a tag is dropped, as it is in a Document, and a first line `#jinja2: …` counts.
// The error is an *Error of kind SyntaxError: also for unknown filters, tests, functions and tags, and for filters whose result would
// differ from run to run.
func (e *Engine) Template(text string) (*Template, error) {
	// Not cached: most texts of a playbook are plain, and there is nothing to compile.
	if !Templated(text) {
		return &Template{engine: e, text: text, literal: true}, nil
	}
	return compiled(&e.templates, text, func() (*Template, error) {
		style, from, err := jinja.Style{}.WithHeader(text)
		if err != nil {
			return nil, value.FromParser(err)
		}
		how := formOf(e.Dialect).reading
		how.Style, how.From = style, from
		return e.compileTemplate(text, how)
	})
}

// Document compiles the text of a file, as the template action renders it: the first newline after a tag is dropped, and
// the result is always a string.
func (e *Engine) Document(text string) (*Template, error) { return e.DocumentIn(text, jinja.Style{}) }

// Condition compiles a condition, which may be wrapped in {{ }} as a whole. The error is an *Error of kind SyntaxError.
func (e *Engine) Condition(text string, lang Language) (*Condition, error) {
	return compiled(&e.conditions[lang], text, func() (*Condition, error) {
		if formOf(e.Dialect).templated(text) {
			t, err := e.Template(text)
			if err != nil {
				return nil, err
			}
			return &Condition{template: t}, nil
		}
		x, err := e.compileExpression(text, lang, "condition")
		if err != nil {
			return nil, err
		}
		return &Condition{expression: x}, nil
	})
}

// Expression compiles a bare expression, which may be wrapped in {{ }} as a whole: the list of a loop, debug's var. The
// error is an *Error of kind SyntaxError.
func (e *Engine) Expression(text string, lang Language) (*Expression, error) {
	return compiled(&e.expressions[lang], text, func() (*Expression, error) { return e.compileExpression(text, lang, "expression") })
}

// compiled looks text up in a cache and compiles it if it is not there. Two goroutines may both compile a text; one
// result is kept.
func compiled[T any](c *cache[T], text string, compile func() (*T, error)) (result *T, err error) {
	return compiledAs(c, text, text, compile)
}

// compiledAs is compiled for a text that is compiled in several ways, each with a key.
func compiledAs[T any](c *cache[T], key, text string, compile func() (*T, error)) (result *T, err error) {
	c.mu.RLock()
	t, ok := c.kept[key]
	c.mu.RUnlock()
	if ok {
		return t, nil
	}
	defer recovered(&err)
	// Without the lock, so that a long text does not hold up others.
	t, err = compile()
	if err != nil {
		return nil, located(err, text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The first one stays: what was handed out before must be the same template.
	if first, ok := c.kept[key]; ok {
		return first, nil
	}
	if c.kept == nil {
		c.kept = map[string]*T{}
	}
	c.kept[key] = t
	return t, nil
}

// mostNames is how many undefined names of one text are looked for. Each costs another evaluation.
const mostNames = 20

// evaluated runs an evaluation, and where names have no value runs it again with those taken for open, until all of them
// are found: a person mends them in one go. The error is an *Error with a place in the text.
func evaluated[T any](r *rendering, evaluate func(*rendering) (T, error)) (T, error) {
	var none T
	if err := r.CheckBudget(); err != nil {
		return none, err
	}
	// Of the first rendering: r is another one after a restart, and those are charged to this one.
	defer r.Finish()
	result, err := evaluate(r)
	// Behind the last missing name nothing else is wrong; the result itself means nothing.
	if err == nil {
		return result, nil
	}
	if _, ok := value.OpenOf(err); ok {
		return none, err
	}
	err = located(err, r.text)
	// Each round takes the names found so far for open, so it comes as far as the next one.
	first, ok := value.AsError(err)
	taken := map[string]bool{}
	for e := first; ok && e.Kind == value.UndefinedError && e.Name != "" && !taken[e.Name] && len(first.All()) < mostNames; {
		taken[e.Name] = true
		r = r.restart(taken)
		_, err := evaluate(r)
		if err == nil {
			break
		}
		if e, ok = value.AsError(located(err, r.text)); ok && e.Kind == value.UndefinedError && !taken[e.Name] {
			first.Also = append(first.Also, e)
		}
	}
	return none, err
}

// recovered turns a panic of a library into an error: a playbook must never end moon.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = &value.Error{Kind: value.Failure, Message: "cannot be evaluated: " + value.Sentence(fmt.Sprint(r)), Offset: -1}
	}
}

// located makes every error one of ours, with a place inside the text or none.
func located(err error, text string) error {
	e, ok := value.AsError(err)
	if !ok {
		return &value.Error{Kind: value.Failure, Message: value.Sentence(err.Error()), Offset: -1}
	}
	// A place may be one in another text: there it cannot be shown.
	if e.Offset > len(text) || e.Offset < 0 {
		e.Offset, e.Width = -1, 0
	} else if e.Offset+e.Width > len(text) {
		e.Width = len(text) - e.Offset
	}
	return e
}

// Templated reports whether text has anything to render.
func Templated(text string) bool { return jinja.Templated(text) }

// DocumentIn is Document for a text that is written in a style of its own. A first line `#jinja2: …` of the text wins.
func (e *Engine) DocumentIn(text string, style jinja.Style) (*Template, error) {
	style, from, err := style.WithHeader(text)
	if err != nil {
		return nil, value.FromParser(err)
	}
	if from == 0 && style.Usual() && !jinja.Templated(text) {
		return &Template{engine: e, text: text, literal: true}, nil
	}
	key := text
	if style != (jinja.Style{}) || from > 0 {
		// The same text is another template in another style.
		key = fmt.Sprintf("%+v\x00%s", style, text)
	}
	return compiledAs(&e.documents, key, text, func() (*Template, error) {
		return e.compileTemplate(text, jinja.Reading{Style: style, Document: true, From: from, LikeAnsible: true})
	})
}

// form is how texts are read in a dialect, and what they may call.
type form struct {
	functions func() map[string]function
	reading   jinja.Reading          // of texts that are written in a playbook, as far as it is the same for all
	converts  bool                   // texts and values become one another where the other is wanted
	pastLoop  bool                   // loop.nextitem at the end is nothing, and not undefined
	templated func(text string) bool // whether a condition is the text that a template gives
	// loosely decides a condition that gives neither true nor false; e says so.
	loosely func(x *Expression, v any, e *value.Error) (Verdict, error)
}

var forms dialect.Of[*form]

func formOf(d dialect.Dialect) *form { return forms.In(d) }
