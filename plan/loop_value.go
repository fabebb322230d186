package plan

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"moon/plan/eval"
	"moon/plan/playbook"
)

// loopValue evaluates the text a loop is given: a template, or a bare expression.
func (p *compiler) loopValue(r *renderer, t *playbook.Task) any {
	over := t.Loop.Over
	if strings.Contains(over.Text(), "{{") || strings.Contains(over.Text(), "{%") {
		return r.value(over)
	}
	x, err := p.engine.Expression(over.Text(), p.lang)
	if err != nil {
		p.wrongLoop(r, t, err)
		return nil
	}
	r.use(over, x.Refs())
	result, err := x.Value(r.env)
	if err != nil {
		p.wrongLoop(r, t, err)
		return nil
	}
	r.miss(result.Missing)
	return result.Value
}

// plainWords are what is written by people who forget the brackets of a list.
var plainWords = regexp.MustCompile(`^[A-Za-z][\w-]*([ ,]+[A-Za-z][\w-]*)*$`)

// wrongLoop reports what is wrong with the expression of a loop. Words that mean nothing as an expression were meant as items.
func (p *compiler) wrongLoop(r *renderer, t *playbook.Task, err error) {
	over := t.Loop.Over
	text := over.Text()
	e, ok := errors.AsType[*eval.Error](err)
	switch {
	case !ok || !plainWords.MatchString(text) || e.Kind != eval.Undefined && e.Kind != eval.Syntax:
	case !identifierOnly.MatchString(text):
		r.failed = true
		items := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
		hint := "write a list: `[" + strings.Join(items, ", ") + "]`"
		p.errorf(over.Pos(), utf8.RuneCountInString(text), r.chain, hint, "`%s:` needs a list or a map; this is text %s", t.Loop.Key, quoted(text))
		return
	case e.Hint == "":
		e.Hint = "a loop needs a list, such as `[" + text + "]`, or the name of a variable that holds one"
	}
	r.wrong(over, err)
}

var identifierOnly = regexp.MustCompile(`^\w+$`)
