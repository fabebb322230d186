package eval

import (
	"fmt"
	"strings"

	"moon/plan/dialect"
	"moon/plan/eval/expr"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Conditions is the language of each dialect's conditions.
var Conditions = dialect.Of[Language]{Steps: Expr, Ansible: Jinja}

// Language says how a condition or expression is read.
type Language uint8

// The languages. Expr is that of the step form: expr-lang first, and Jinja for a text that expr does not understand.
// Jinja is that of the plays form.
const (
	Expr Language = iota
	Jinja
)

// maxExpression bounds a condition or an expression that stands by itself, in bytes. Both languages descend once per bracket.
const maxExpression = 64 << 10

// Expression is a compiled expression. It is safe for concurrent use.
type Expression struct {
	engine *Engine
	text   string
	inside expr.Excerpt   // without {{ }} and the space around
	node   jinja.Node     // in Jinja
	tree   *expr.Decision // in expr; nil if node is set
	refs   []Ref
	guards []string
}

// Condition is a compiled condition. It is safe for concurrent use.
type Condition struct {
	expression *Expression
	// template is set of a condition of plays that has {{ }} in the middle: the text that it gives is the condition.
	template *Template
	// unreadable is what is wrong with the text of a condition that is decided by none, as others may come before it.
	unreadable *value.Error
}

// Unreadable is a condition whose text cannot be understood. To decide it is an error: the one of Engine.Condition, as a Failure.
func Unreadable(err error) *Condition {
	e, ok := value.AsError(err)
	if !ok {
		e = &value.Error{Message: err.Error(), Offset: -1}
	}
	failing := *e
	failing.Kind = value.Failure
	return &Condition{unreadable: &failing}
}

// Verdict is what a condition decides.
type Verdict struct {
	Known bool
	Holds bool // only if Known
	// Missing lists the unknown variables that keep the condition from being decided, each once.
	Missing []value.Missing
	// Loose is what is wrong with a condition of plays that gives neither a boolean nor null. It holds as in Python: unless what it
	// gives is empty or 0.
	Loose *value.Error
	// Again is the text that a condition of plays in {{ }} gives: it is a condition itself, and decides.
	Again string
}

// Refs lists the free variables that the expression uses, in its order.
func (x *Expression) Refs() []Ref { return x.refs }

// Refs lists the free variables that the condition uses, in its order.
func (c *Condition) Refs() []Ref {
	switch {
	case c.unreadable != nil:
		return nil
	case c.template != nil:
		return c.template.refs
	}
	return c.expression.refs
}

// Guards lists the names whose absence the condition provides for: `x is defined`, `is_defined(x)`, `x ?? y`, `x?.y`,
// `x != nil`, `x | default(…)`.
func (c *Condition) Guards() []string {
	if c.expression == nil {
		return nil
	}
	return c.expression.guards
}

// Value evaluates the expression; the value keeps its type. The error is an *Error.
func (x *Expression) Value(env value.Env) (result Result, err error) {
	defer recovered(&err)
	return evaluated(x.engine.begin(env, x.text), func(r *rendering) (Result, error) {
		if x.node != nil {
			return r.value(x.node)
		}
		return r.decided(x.tree)
	})
}

// Embeds reports whether the condition is the text that a template gives, with {{ }} in the middle.
func (c *Condition) Embeds() bool { return c.template != nil }

// Eval decides the condition. Only and, or and not look past unknown values. The error is an *Error: of kind TypeError if the
// condition of a step gives something else than a boolean or null.
func (c *Condition) Eval(env value.Env) (verdict Verdict, err error) {
	defer recovered(&err)
	if c.unreadable != nil {
		return Verdict{}, c.unreadable
	}
	x := c.expression
	if c.template != nil {
		result, err := c.template.Render(env)
		if err != nil || len(result.Missing) > 0 {
			return Verdict{Missing: result.Missing}, err
		}
		return Verdict{Known: true, Again: value.Text(value.Reveal(result.Value))}, nil
	}
	r := x.engine.begin(env, x.text)
	r.deciding = true
	v, err := evaluated(r, func(r *rendering) (any, error) {
		if x.node != nil {
			return scope{rendering: r}.eval(x.node)
		}
		return x.tree.Decide(r)
	})
	// An open condition is a verdict of its own; only mistakes are errors.
	if o, ok := value.OpenOf(err); ok {
		return Verdict{Missing: o.Missing}, nil
	}
	if err != nil {
		return Verdict{}, err
	}
	holds, e := expr.Holds(v)
	if e == nil {
		return Verdict{Known: true, Holds: holds}, nil
	}
	// The whole condition: no single part of it is wrong.
	e.Offset, e.Width = x.inside.Offset, len(x.inside.Text)
	return formOf(x.engine.Dialect).loosely(x, v, e)
}

// loosely is the verdict of a condition of a play, which may give any value. e says that it is neither true nor false.
func (x *Expression) loosely(v any, e *value.Error) (Verdict, error) {
	v = value.Reveal(v)
	wrapped := x.inside.Offset > 0 && strings.Contains(x.text[:x.inside.Offset], "{{")
	if text, ok := v.(string); ok && wrapped && strings.TrimSpace(text) != "" {
		return Verdict{Known: true, Again: text}, nil
	}
	return Verdict{Known: true, Holds: value.Truthy(v), Loose: e}, nil
}

// compileExpression reads a text in a language. what names it in messages.
func (e *Engine) compileExpression(text string, lang Language, what string) (*Expression, error) {
	inside, err := bare(text, what)
	if err != nil {
		return nil, err
	}
	x := &Expression{engine: e, text: text, inside: inside}
	// Before either parser sees it: they descend by recursion, and a stack that overflows ends the process.
	if len(inside.Text) > maxExpression {
		return nil, &value.Error{
			Message: fmt.Sprintf("the %s is too long: %d bytes, where %d are allowed", what, len(inside.Text), maxExpression),
			Hint:    "put long lists into a variable", Offset: inside.Offset,
		}
	}
	if lang == Jinja {
		return x, x.compileJinja(inside, jinja.Lexing{})
	}
	var asExpr error
	// The order is part of the language: a text that both understand is one of expr.
	if !hasFloorDivision(inside.Text) {
		if asExpr = x.compileExpr(inside); asExpr == nil {
			return x, nil
		}
	}
	x.tree, x.refs, x.guards = nil, nil, nil
	asJinja := x.compileJinja(inside, jinja.Lexing{ExprLogic: true})
	if asJinja == nil {
		return x, nil
	}
	if x.node != nil {
		return nil, asJinja // it is Jinja but for a name
	}
	return nil, likelier(inside.Text, asExpr, asJinja)
}

// bare takes the {{ }} off that may enclose the whole.
func bare(text, what string) (expr.Excerpt, *value.Error) {
	if strings.TrimSpace(text) == "" {
		return expr.Excerpt{}, &value.Error{Message: "the " + what + " is empty", Offset: 0}
	}
	// The usual case. Only what has delimiters needs to be cut into pieces.
	if !strings.Contains(text, "{{") && !strings.Contains(text, "{%") {
		return expr.Excerpt{Text: text}.Trim(), nil
	}
	inside, outputs, err := outputsIn(text)
	if err != nil {
		return expr.Excerpt{}, err
	}
	if outputs != 1 {
		return expr.Excerpt{}, &value.Error{
			Message: "the " + what + " is an expression by itself: a template inside of it does not work",
			Hint:    "write the names without `{{ }}`, or put the whole " + what + " between them",
			Offset:  max(strings.Index(text, "{{"), strings.Index(text, "{%")), Width: 2,
		}
	}
	return inside.Trim(), nil
}

// outputsIn finds what is between {{ }}, and counts it. Anything around the output makes the text a template, even a single output:
// then the count is not 1.
func outputsIn(text string) (inside expr.Excerpt, outputs int, e *value.Error) {
	pieces, err := jinja.Split(text, jinja.Reading{Style: jinja.Style{KeepBreaks: true}})
	if err != nil {
		return expr.Excerpt{}, 0, value.FromParser(err)
	}
	for _, p := range pieces {
		switch {
		case p.Kind == jinja.PieceOutput:
			from, to := p.Tokens[0].Start, p.Tokens[len(p.Tokens)-1].Start
			inside = expr.Excerpt{Text: text[from:to], Offset: from}
			outputs++
		case p.Kind == jinja.PieceTag || strings.TrimSpace(p.Text) != "":
			outputs += 2
		}
	}
	return inside, outputs, nil
}

// hasTemplateInside reports whether a text has templates in the middle, or several of them.
func hasTemplateInside(text string) bool {
	if !jinja.Templated(text) {
		return false
	}
	_, outputs, err := outputsIn(text)
	return err == nil && outputs > 1
}

func (x *Expression) compileJinja(inside expr.Excerpt, how jinja.Lexing) error {
	// Of the whole text from where the expression begins, so that places count from the beginning of the text.
	tokens, _, err := jinja.LexExpression(x.text[:inside.Offset+len(inside.Text)], inside.Offset, "", "", how)
	if err != nil {
		return err
	}
	n, perr := jinja.ParseExpression(vocabulary{&x.engine.Shared}, tokens)
	if perr != nil {
		return perr
	}
	c := newCollector(x.engine)
	c.node(n, false)
	x.node, x.refs, x.guards = n, c.done(), c.guards
	return c.unknownFunction(nil)
}

// hasFloorDivision finds Jinja's // outside of strings: to expr it would begin a comment.
func hasFloorDivision(text string) bool {
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		// Between backticks expr knows no escapes.
		case quote != 0 && c == '\\' && quote != '`':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '/' && strings.HasPrefix(text[i:], "//"):
			return true
		}
	}
	return false
}

// likelier chooses between two complaints about a text that neither language understands: that of expr if the text has
// signs that only expr has.
func likelier(text string, asExpr, asJinja error) error {
	// `!=` is in both languages, so its sign must not count as expr's `!`.
	padded := " " + strings.ReplaceAll(text, "!=", "") + " "
	for _, mark := range []string{"&&", "||", "?", "!", "$env", " matches ", " startsWith ", " endsWith "} {
		if asExpr != nil && strings.Contains(padded, mark) {
			return asExpr
		}
	}
	return asJinja
}

// Read implements expr.Reader.
func (r *rendering) Read(n jinja.Node) (any, error) {
	s := scope{rendering: r}
	v, root, err := s.reach(n)
	if err == nil {
		v, err = s.Settle(v, root)
	}
	if err == nil {
		v, err = s.ExpandObjects(v)
	}
	return v, s.placed(err, n)
}

// compileExpr compiles a text in expr. Its variables are collected as those of templates are.
func (x *Expression) compileExpr(inside expr.Excerpt) error {
	tree, uses, err := expr.Compile(x.text, inside)
	if err != nil {
		return err
	}
	c := newCollector(x.engine)
	for _, u := range uses {
		c.path(u.Root, u.Path, u.Provided)
	}
	x.tree, x.refs, x.guards = tree, c.done(), c.guards
	return nil
}

// decided is decide for an expression, whose value may be anything.
func (r *rendering) decided(d *expr.Decision) (Result, error) {
	v, err := d.Decide(r)
	if o, ok := value.OpenOf(err); ok {
		return Result{Value: r.text, Missing: o.Missing}, nil
	}
	switch {
	case err != nil:
		return Result{}, err
	// No secret was read: nothing to conceal.
	case !r.Touched:
		return Result{Value: v}, nil
	}
	if path := d.PlainPath(); path != nil { // a part of a value, which has its own marks
		if part, _, err := (scope{rendering: r}).reach(path); err == nil && value.Marked(part) {
			return Result{Value: part}, nil
		}
	}
	return Result{Value: r.Conceal(v)}, nil
}
