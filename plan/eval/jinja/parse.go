package jinja

import (
	"errors"
	"slices"
	"strings"
)

// Bounds on what one expression may be. They are far above what people write; without them a hostile text overflows
// the stack.
const (
	maxDepth = 150
	MaxNodes = 20_000
)

// reader turns the tokens of one expression, or of the inside of one tag, into a tree. The grammar is Jinja's.
type reader struct {
	language Language
	tokens   []token
	i        int
	depth    int
	nodes    int
	noColon  int // > 0 where a colon belongs to a slice or dict, not to filter:'argument'

	changed         []string // names by which a method reaches what it changes: x.append(1), x.y.append(1); "" if none says what it is
	calls           bool     // something is called that is not built in, such as a macro, which may change what it is given
	varargs, kwargs bool     // the names are used that gather the arguments of a macro
}

// fail unwinds to recoverSyntax; parse functions stay free of error plumbing.
func (p *reader) fail(t token, message, hint string) {
	panic(&Error{Message: message, Hint: hint, Offset: t.Start, Width: t.end - t.Start})
}

// lack stops because of a name that stands for nothing.
func (p *reader) lack(start, end int, err *Error) {
	err.Offset, err.Width = start, end-start
	panic(err)
}

// catchSyntax turns what fail threw into an error.
func catchSyntax(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	// A mistake in moon, which must not pass for one in the text.
	default:
		panic(r)
	}
}

func (p *reader) unexpected(t token, wanted string) {
	if t.kind == tokenEnd {
		p.fail(t, "the expression ends too early: expected "+wanted, "")
	}
	hint := ""
	// Hints go by what stands there, and for doubled signs by the token before, which has been taken already.
	switch {
	case t.text == "=" && t.kind == tokenSign:
		hint = "compare with `==`"
	case t.text == "|" && t.kind == tokenSign && p.i > 0 && p.tokens[p.i-1].text == "|":
		hint = "write `or`"
	case t.kind == tokenName:
		hint = operatorHints[t.text]
	case t.text == "." && t.kind == tokenSign && p.i > 0 && p.tokens[p.i-1].text == ".":
		hint = "write `range(…)`"
	}
	p.fail(t, "unexpected `"+p.spelling(t)+"`: expected "+wanted, hint)
}

func (p *reader) spelling(t token) string {
	if t.kind == tokenString {
		return "'" + t.text + "'"
	}
	return t.text
}

func (p *reader) peek() token { return p.tokens[p.i] }

// after gives the token behind the next one.
func (p *reader) after() token { return p.tokens[min(p.i+1, len(p.tokens)-1)] }

func (p *reader) next() token {
	t := p.tokens[p.i]
	if t.kind != tokenEnd {
		p.i++
	}
	return t
}

func (p *reader) isSign(s string) bool { t := p.peek(); return t.kind == tokenSign && t.text == s }
func (p *reader) isName(s string) bool { t := p.peek(); return t.kind == tokenName && t.text == s }

func (p *reader) takeSign(s string) bool {
	if p.isSign(s) {
		p.i++
		return true
	}
	return false
}

func (p *reader) takeName(s string) bool {
	if p.isName(s) {
		p.i++
		return true
	}
	return false
}

func (p *reader) wantSign(s string) token {
	if !p.isSign(s) {
		p.unexpected(p.peek(), "`"+s+"`")
	}
	return p.next()
}

func (p *reader) wantName(what string) token {
	if p.peek().kind != tokenName {
		p.unexpected(p.peek(), what)
	}
	return p.next()
}

func (p *reader) wantEnd() {
	if t := p.peek(); t.kind != tokenEnd {
		p.unexpected(t, "the end of the expression")
	}
}

// made counts nodes.
func (p *reader) made(t token) At {
	// Width is bounded as well as depth: a flat chain of operators is a tree as deep as it is long.
	if p.nodes++; p.nodes > MaxNodes {
		p.fail(t, "the expression is too long", "")
	}
	return At(t.Start)
}

func (p *reader) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), "the expression is nested too deeply", "")
	}
	return func() { p.depth-- }
}

// expression parses with inline if; allowIf is false where a following `if` belongs to a loop.
func (p *reader) expression(allowIf bool) Node {
	defer p.deeper()()
	n := p.or()
	// In `for x in a if b` the if belongs to the loop.
	for allowIf && p.isName("if") {
		c := &Choice{At: p.made(p.next()), Then: n, Cond: p.or()}
		// `a if b` without else is allowed in Jinja.
		if p.takeName("else") {
			c.Other = p.expression(true)
		}
		n = c
	}
	return n
}

// tuple parses what may be a list without brackets, as in {% for x in 1, 2 %}.
func (p *reader) tuple(allowIf bool) Node {
	first := p.peek()
	n := p.expression(allowIf)
	if !p.isSign(",") {
		return n
	}
	l := &Listing{At: p.made(first), Items: []Node{n}, Tuple: true}
	for p.takeSign(",") {
		// (1,) is a tuple of one.
		if p.peek().kind == tokenEnd || p.isSign(")") {
			break
		}
		l.Items = append(l.Items, p.expression(allowIf))
	}
	return l
}

func (p *reader) or() Node {
	n := p.and()
	for p.isName("or") {
		n = &Logic{At: p.made(p.next()), Left: n, Right: p.and()}
	}
	return n
}

func (p *reader) and() Node {
	n := p.not()
	for p.isName("and") {
		n = &Logic{At: p.made(p.next()), And: true, Left: n, Right: p.not()}
	}
	return n
}

func (p *reader) not() Node {
	if p.isName("not") {
		// Counted here as well, since `not not not …` does not pass through expression.
		defer p.deeper()()
		return &Negation{At: p.made(p.next()), Of: p.not()}
	}
	return p.comparison()
}

func (p *reader) comparison() Node {
	left := p.sum()
	var c *Comparison
	for {
		t := p.peek()
		op := ""
		switch {
		case t.kind == tokenSign && (t.text == "==" || t.text == "!=" || t.text == "<" || t.text == "<=" || t.text == ">" ||
			t.text == ">="):
			op = t.text
			p.i++
		case p.takeName("in"):
			op = "in"
		// Two tokens decide: `not` alone cannot follow a value.
		case p.isName("not") && p.after().kind == tokenName && p.after().text == "in":
			op = "not in"
			p.i += 2
		}
		if op == "" {
			break
		}
		if c == nil {
			c = &Comparison{At: p.made(t), Left: left}
		}
		// Each operator counts, though a chain is one node.
		p.made(t)
		c.Rest = append(c.Rest, Compared{Op: op, At: t.Start, Right: p.sum()})
	}
	if c == nil {
		return left
	}
	return c
}

// leftToRight parses operands joined by operators of one precedence.
func (p *reader) leftToRight(operand func() Node, ops ...string) Node {
	n := operand()
	for {
		t := p.peek()
		if t.kind != tokenSign || !slices.Contains(ops, t.text) {
			return n
		}
		// In a loop and not by recursion: a long sum must not descend. So ** is left to right too, as in Jinja.
		p.i++
		n = &Arithmetic{At: p.made(t), Op: t.text, Left: n, Right: operand()}
	}
}

func (p *reader) sum() Node     { return p.leftToRight(p.concat, "+", "-") }
func (p *reader) concat() Node  { return p.leftToRight(p.product, "~") }
func (p *reader) product() Node { return p.leftToRight(p.power, "*", "/", "//", "%") }
func (p *reader) power() Node   { return p.leftToRight(p.filtered, "**") }

// filtered parses a unary expression with its filters and tests, which bind tighter than any operator.
func (p *reader) filtered() Node {
	// expr's `!` binds as tightly as a sign, unlike `not`.
	if t := p.peek(); p.takeSign("!") {
		defer p.deeper()()
		return &Negation{At: p.made(t), Of: p.filtered()}
	}
	n := p.unary()
	for {
		switch {
		case p.isSign("|"):
			p.i++
			n = p.filter(n)
		case p.isName("is"):
			p.i++
			n = p.test(n)
		default:
			return n
		}
	}
}

func (p *reader) unary() Node {
	t := p.peek()
	if t.kind == tokenSign && (t.text == "-" || t.text == "+") {
		defer p.deeper()()
		p.i++
		return &Signed{At: p.made(t), Minus: t.text == "-", Of: p.unary()}
	}
	return p.postfix(p.primary())
}

var constants = map[string]any{
	"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil, "null": nil,
}

// keywords cannot be names of variables.
var keywords = map[string]bool{"and": true, "or": true, "not": true, "in": true, "is": true, "if": true, "else": true}

func (p *reader) primary() Node {
	t := p.next()
	switch t.kind {
	case tokenName:
		if value, ok := constants[t.text]; ok {
			return &Constant{At: p.made(t), Value: value}
		}
		// Back, so that the message is about this token and not about the next one.
		if keywords[t.text] {
			p.i--
			p.unexpected(t, "a value")
		}
		// Jinja has a macro take further arguments if its body names them.
		p.varargs = p.varargs || t.text == "varargs"
		p.kwargs = p.kwargs || t.text == "kwargs"
		return &Variable{At: p.made(t), Name: t.text}
	case tokenNumber:
		return &Constant{At: p.made(t), Value: t.value}
	case tokenString:
		// Strings next to each other are one, as in Python.
		parts := []string{t.text}
		for p.peek().kind == tokenString {
			parts = append(parts, p.next().text)
		}
		return &Constant{At: p.made(t), Value: strings.Join(parts, "")}
	case tokenSign:
		switch t.text {
		case "(":
			return p.parenthesis(t)
		case "[":
			return p.list(t)
		case "{":
			return p.dict(t)
		}
	case tokenEnd:
	}
	if t.kind != tokenEnd {
		p.i--
	}
	p.unexpected(t, "a value")
	return nil
}

func (p *reader) parenthesis(open token) Node {
	defer p.nested()()
	// () is the empty tuple.
	if p.takeSign(")") {
		return &Listing{At: p.made(open), Tuple: true}
	}
	n := p.tuple(true)
	p.wantClosing(")", open)
	return n
}

// nested enters brackets, in which a colon is free again.
func (p *reader) nested() func() {
	saved := p.noColon
	p.noColon = 0
	return func() { p.noColon = saved }
}

func (p *reader) wantClosing(sign string, open token) {
	if p.takeSign(sign) {
		return
	}
	// At the end of the text the place to look at is where it was opened.
	if p.peek().kind == tokenEnd {
		p.fail(open, "`"+open.text+"` is never closed", "")
	}
	p.unexpected(p.peek(), "`"+sign+"`")
}

func (p *reader) list(open token) Node {
	defer p.nested()()
	l := &Listing{At: p.made(open)}
	for !p.isSign("]") {
		l.Items = append(l.Items, p.expression(true))
		if !p.takeSign(",") {
			break
		}
	}
	p.wantClosing("]", open)
	return l
}

func (p *reader) dict(open token) Node {
	defer p.nested()()
	d := &Dict{At: p.made(open)}
	for !p.isSign("}") {
		// A filter of a key must not take the colon for its argument.
		p.noColon++
		d.Keys = append(d.Keys, p.expression(true))
		p.noColon--
		p.wantSign(":")
		d.Values = append(d.Values, p.expression(true))
		if !p.takeSign(",") {
			break
		}
	}
	p.wantClosing("}", open)
	return d
}

func (p *reader) postfix(n Node) Node {
	for {
		t := p.peek()
		switch {
		case p.takeSign("."):
			key := p.next()
			switch key.kind {
			case tokenName:
				k := &Constant{At: p.made(key), Value: key.text}
				n = &Member{At: At(n.Offset()), Of: n, Key: k, Dot: true, KeyAt: key.Start, End: key.end}
			// list.0 is a position, which Jinja allows in addition to list[0].
			case tokenNumber:
				k := &Constant{At: p.made(key), Value: key.value}
				n = &Member{At: At(n.Offset()), Of: n, Key: k, Dot: true, KeyAt: key.Start, End: key.end}
			default:
				if key.kind != tokenEnd {
					p.i--
				}
				p.unexpected(key, "a name after `.`")
			}
		case p.takeSign("["):
			n = p.subscript(n, t)
		case p.takeSign("("):
			p.made(t)
			args := p.arguments(t)
			switch f := n.(type) {
			case *Variable:
				if f.Name == "env" && Unpacks(args) {
					p.fail(t, "the arguments of env() cannot be unpacked", "write them out: what it reads, and whether it is a secret, is known before the run")
				}
				markSecret(f, args)
				if known, ok := p.language.FindFunction(f.Name); ok {
					p.checkArguments("function", f.Name, known.Parameters(), args, t)
				} else {
					p.calls = true
				}
			case *Member:
				p.noteChange(f)
			}
			n = &Call{At: At(n.Offset()), Function: n, Args: args}
		default:
			return n
		}
	}
}

// noteChange notes the name by which a method reaches what it changes.
func (p *reader) noteChange(method *Member) {
	key, isConstant := method.Key.(*Constant)
	if !isConstant {
		return
	}
	name, isText := key.Value.(string)
	if !isText || !Changes[name] {
		p.calls = true // m.f() may be a macro of another file
		return
	}
	of := method.Of
	for {
		m, isMember := of.(*Member)
		if !isMember {
			break
		}
		of = m.Of
	}
	root, _ := of.(*Variable)
	if root == nil {
		p.changed = append(p.changed, "")
		return
	}
	// While the tag is open, the name's value afterwards is not known: see Span.Sets.
	p.changed = append(p.changed, root.Name)
}

// markSecret reads env('NAME', secret), where secret is a word and no variable.
func markSecret(f *Variable, args []Argument) {
	for i := 1; f.Name == "env" && i < len(args); i++ {
		// Rewritten here, so that neither the collector nor the evaluator takes it for a variable.
		if v, ok := args[i].Value.(*Variable); ok && v.Name == "secret" && args[i].Name == "" {
			args[i].Name, args[i].Value = "secret", &Constant{At: v.At, Value: true}
		}
	}
}

func (p *reader) subscript(of Node, open token) Node {
	defer p.nested()()
	defer p.deeper()()
	p.noColon++
	var parts [3]Node
	i, colons := 0, 0
	for !p.isSign("]") {
		if p.takeSign(":") {
			colons++
			// A slice has three parts at most.
			if i++; i > 2 {
				p.unexpected(p.tokens[p.i-1], "`]`")
			}
			continue
		}
		// Two values without a colon between them: the bracket should have closed.
		if parts[i] != nil {
			p.wantClosing("]", open)
		}
		parts[i] = p.tuple(true)
	}
	closing := p.next()
	if colons > 0 {
		p.made(open)
		return &Slicing{At: At(of.Offset()), Of: of, From: parts[0], To: parts[1], Step: parts[2]}
	}
	if parts[0] == nil {
		p.fail(closing, "unexpected `]`: expected a value", "")
	}
	p.made(open)
	return &Member{At: At(of.Offset()), Of: of, Key: negative(parts[0]), KeyAt: open.Start, End: closing.end}
}

// negative folds -1 into a constant, so that list[-1] has a constant path.
func negative(n Node) Node {
	if s, ok := n.(*Signed); ok && s.Minus {
		if c, ok := s.Of.(*Constant); ok {
			if i, ok := c.Value.(int); ok {
				return &Constant{At: s.At, Value: -i}
			}
		}
	}
	return n
}

// arguments parses up to the closing parenthesis.
func (p *reader) arguments(open token) []Argument {
	defer p.nested()()
	defer p.deeper()()
	var args []Argument
	named, unpacked := map[string]bool{}, "" // the last that was unpacked
	for !p.isSign(")") {
		t := p.peek()
		a := Argument{At: t.Start}
		// Two tokens, since a name alone is a positional argument.
		following := p.after()
		byName := t.kind == tokenName && following.kind == tokenSign && following.text == "="
		isUnpacked := t.kind == tokenSign && (t.text == "*" || t.text == "**")
		// Jinja's rule, which is narrower than Python's: one list behind the positional ones, and one map at the very end.
		switch {
		case unpacked == "**":
			p.fail(t, "no argument can follow one that is unpacked with `**`", "write it last")
		case unpacked == "*" && isUnpacked && t.text == "*":
			p.fail(t, "only one list of arguments can be unpacked", "add the lists: `*(a + b)`")
		case unpacked == "*" && !isUnpacked && !byName:
			p.fail(t, "a positional argument cannot follow one that is unpacked with `*`", "put it into the list: `*(a + [b])`")
		}
		if isUnpacked {
			a.Unpack, unpacked = t.text, t.text
			p.i++
		} else if byName {
			a.Name = t.text
			p.i += 2
			if named[a.Name] {
				p.fail(t, "the argument `"+a.Name+"` is given twice", "")
			}
			named[a.Name] = true
		} else if len(named) > 0 {
			p.fail(t, "a positional argument cannot follow a named one", "")
		}
		a.Value = p.expression(true)
		args = append(args, a)
		if !p.takeSign(",") {
			break
		}
	}
	p.wantClosing(")", open)
	return args
}

func (p *reader) filter(in Node) Node {
	name := p.wantName("the name of a filter")
	full := p.dotted(name)
	f := &Filtering{At: p.made(name), Name: bareName(full), In: in}
	f.End = p.tokens[p.i-1].end
	// Looked up while parsing, so that a misspelt name is found even where the template never comes.
	def, err := p.language.FindFilter(full)
	if err != nil {
		p.lack(name.Start, f.End, err)
	}
	f.Def = def
	switch {
	case p.isSign("("):
		f.Args = p.arguments(p.next())
	// Django's spelling, with one argument: {{ x | join:',' }}.
	case p.noColon == 0 && p.isSign(":"):
		p.i++
		f.Args = []Argument{{Value: p.unary(), At: p.tokens[p.i-1].Start}}
	}
	p.checkArguments("filter", f.Name, def.Parameters(), f.Args, name)
	p.checkNames(f)
	return f
}

// checkNames looks up the filters and tests that map, select and their like name in their arguments.
func (p *reader) checkNames(f *Filtering) {
	place, isTest := 0, true
	switch f.Name {
	case "map":
		isTest = false
	case "select", "reject":
	case "selectattr", "rejectattr":
		place = 1
	default:
		return
	}
	// What is computed, or given by name, is found out when it runs.
	if len(f.Args) <= place || f.Args[place].Name != "" || f.Args[place].Unpack != "" {
		return
	}
	c, ok := f.Args[place].Value.(*Constant)
	if !ok {
		return
	}
	name, isText := c.Value.(string)
	if !isText {
		return
	}
	_, err := p.language.FindTest(name)
	if !isTest {
		_, err = p.language.FindFilter(name)
	}
	if err != nil {
		from := f.Args[place].At
		p.lack(from, from+len(name)+2, err)
	}
}

// dotted takes a name with the collection that it is from, such as ansible.builtin.combine.
func (p *reader) dotted(first token) string {
	words := []string{first.text}
	for p.isSign(".") && p.after().kind == tokenName {
		p.i++
		words = append(words, p.next().text)
	}
	return strings.Join(words, ".")
}

// bareName is a name without Ansible's own collection.
func bareName(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.")
}

// startsArgument reports whether a test without parentheses takes the token as its argument: x is divisibleby 3.
func startsArgument(t token) bool {
	switch t.kind {
	case tokenNumber, tokenString:
		return true
	case tokenName:
		return !keywords[t.text] && t.text != "recursive"
	case tokenSign:
		return t.text == "[" || t.text == "{"
	default:
		return false
	}
}

func (p *reader) test(in Node) Node {
	var negated *Negation
	if p.isName("not") {
		negated = &Negation{At: p.made(p.next())}
	}
	name := p.next()
	if name.kind != tokenName {
		if name.kind != tokenEnd {
			p.i--
		}
		p.unexpected(name, "the name of a test after `is`")
	}
	full := p.dotted(name)
	t := &Testing{At: p.made(name), Name: bareName(full), In: in}
	t.End = p.tokens[p.i-1].end
	def, err := p.language.FindTest(full)
	if err != nil {
		p.lack(name.Start, t.End, err)
	}
	t.Def = def
	switch {
	case p.isSign("("):
		t.Args = p.arguments(p.next())
	case startsArgument(p.peek()) && len(def.Parameters().Names) > 0:
		first := p.peek()
		// No filters and operators: `x is divisibleby 3 and y` must end behind the 3.
		t.Args = []Argument{{Value: p.postfix(p.primary()), At: first.Start}}
	}
	p.checkArguments("test", t.Name, def.Parameters(), t.Args, name)
	if negated != nil {
		// `is not` negates the test alone, whatever it is part of.
		negated.Of = t
		return negated
	}
	return t
}

// checkArguments finds superfluous, misspelt and missing arguments before anything runs.
func (p *reader) checkArguments(kind, name string, params Params, args []Argument, where token) {
	// How many there are and what they are called is known when they are unpacked.
	if Unpacks(args) {
		return
	}
	if err := params.Misfit(kind, name, args); err != nil {
		if err.Offset < 0 {
			err.Offset, err.Width = where.Start, where.end-where.Start
		}
		panic(err)
	}
}

// ParseExpression parses tokens that must be one whole expression.
func ParseExpression(l Language, tokens []token) (Node, error) {
	n, _, err := readExpression(l, tokens)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// readExpression also gives the reader, for what it came past.
func readExpression(l Language, tokens []token) (n Node, p *reader, wrong *Error) {
	p = &reader{language: l, tokens: tokens}
	var err error
	// Runs behind catchSyntax, which sets err: deferred calls run in reverse.
	defer func() { wrong, _ = errors.AsType[*Error](err) }()
	defer catchSyntax(&err)
	if p.peek().kind == tokenEnd {
		p.fail(p.peek(), "there is no expression here", "")
	}
	n = p.tuple(true)
	p.wantEnd()
	return n, p, nil
}
