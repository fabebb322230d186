package eval

import (
	"slices"
	"strconv"
	"strings"

	"moon/internal/suggest"
)

// Bounds on what one expression may be. They are far above what people write; without them a hostile text overflows
// the stack.
const (
	maxDepth = 150
	maxNodes = 20_000
)

// reader turns the tokens of one expression, or of the inside of one tag, into a tree. The grammar is Jinja's.
type reader struct {
	tokens  []token
	i       int
	depth   int
	nodes   int
	noColon int // > 0 where a colon belongs to a slice or dict, not to filter:'argument'

	changed         []string // names that a method changes: x.append(1)
	varargs, kwargs bool     // the names are used that gather the arguments of a macro
}

// fail unwinds to recoverSyntax; parse functions stay free of error plumbing.
func (p *reader) fail(t token, message, hint string) {
	panic(&Error{Message: message, Hint: hint, Offset: t.start, Width: t.end - t.start})
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
	default:
		panic(r)
	}
}

func (p *reader) unexpected(t token, wanted string) {
	if t.kind == tokenEnd {
		p.fail(t, "the expression ends too early: expected "+wanted, "")
	}
	hint := ""
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
func (p *reader) made(t token) at {
	if p.nodes++; p.nodes > maxNodes {
		p.fail(t, "the expression is too long", "")
	}
	return at(t.start)
}

func (p *reader) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), "the expression is nested too deeply", "")
	}
	return func() { p.depth-- }
}

// expression parses with inline if; allowIf is false where a following `if` belongs to a loop.
func (p *reader) expression(allowIf bool) node {
	defer p.deeper()()
	n := p.or()
	for allowIf && p.isName("if") {
		c := &choice{at: p.made(p.next()), then: n, cond: p.or()}
		if p.takeName("else") {
			c.other = p.expression(true)
		}
		n = c
	}
	return n
}

// tuple parses what may be a list without brackets, as in {% for x in 1, 2 %}.
func (p *reader) tuple(allowIf bool) node {
	first := p.peek()
	n := p.expression(allowIf)
	if !p.isSign(",") {
		return n
	}
	l := &listing{at: p.made(first), items: []node{n}, tuple: true}
	for p.takeSign(",") {
		if p.peek().kind == tokenEnd || p.isSign(")") {
			break
		}
		l.items = append(l.items, p.expression(allowIf))
	}
	return l
}

func (p *reader) or() node {
	n := p.and()
	for p.isName("or") {
		n = &logic{at: p.made(p.next()), left: n, right: p.and()}
	}
	return n
}

func (p *reader) and() node {
	n := p.not()
	for p.isName("and") {
		n = &logic{at: p.made(p.next()), and: true, left: n, right: p.not()}
	}
	return n
}

func (p *reader) not() node {
	if p.isName("not") {
		defer p.deeper()()
		return &negation{at: p.made(p.next()), of: p.not()}
	}
	return p.comparison()
}

func (p *reader) comparison() node {
	left := p.sum()
	var c *comparison
	for {
		t := p.peek()
		op := ""
		switch {
		case t.kind == tokenSign && (t.text == "==" || t.text == "!=" || t.text == "<" || t.text == "<=" || t.text == ">" || t.text == ">="):
			op = t.text
			p.i++
		case p.takeName("in"):
			op = "in"
		case p.isName("not") && p.after().kind == tokenName && p.after().text == "in":
			op = "not in"
			p.i += 2
		}
		if op == "" {
			break
		}
		if c == nil {
			c = &comparison{at: p.made(t), left: left}
		}
		p.made(t)
		c.rest = append(c.rest, compared{op: op, at: t.start, right: p.sum()})
	}
	if c == nil {
		return left
	}
	return c
}

// leftToRight parses operands joined by operators of one precedence.
func (p *reader) leftToRight(operand func() node, ops ...string) node {
	n := operand()
	for {
		t := p.peek()
		if t.kind != tokenSign || !slices.Contains(ops, t.text) {
			return n
		}
		p.i++
		n = &arithmetic{at: p.made(t), op: t.text, left: n, right: operand()}
	}
}

func (p *reader) sum() node     { return p.leftToRight(p.concat, "+", "-") }
func (p *reader) concat() node  { return p.leftToRight(p.product, "~") }
func (p *reader) product() node { return p.leftToRight(p.power, "*", "/", "//", "%") }
func (p *reader) power() node   { return p.leftToRight(p.filtered, "**") }

// filtered parses a unary expression with its filters and tests, which bind tighter than any operator.
func (p *reader) filtered() node {
	if t := p.peek(); p.takeSign("!") {
		defer p.deeper()()
		return &negation{at: p.made(t), of: p.filtered()}
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

func (p *reader) unary() node {
	t := p.peek()
	if t.kind == tokenSign && (t.text == "-" || t.text == "+") {
		defer p.deeper()()
		p.i++
		return &signed{at: p.made(t), minus: t.text == "-", of: p.unary()}
	}
	return p.postfix(p.primary())
}

var constants = map[string]any{
	"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil, "null": nil,
}

// keywords cannot be names of variables.
var keywords = map[string]bool{"and": true, "or": true, "not": true, "in": true, "is": true, "if": true, "else": true}

func (p *reader) primary() node {
	t := p.next()
	switch t.kind {
	case tokenName:
		if value, ok := constants[t.text]; ok {
			return &constant{at: p.made(t), value: value}
		}
		if keywords[t.text] {
			p.i--
			p.unexpected(t, "a value")
		}
		p.varargs = p.varargs || t.text == "varargs"
		p.kwargs = p.kwargs || t.text == "kwargs"
		return &variable{at: p.made(t), name: t.text}
	case tokenNumber:
		return &constant{at: p.made(t), value: t.value}
	case tokenString:
		parts := []string{t.text}
		for p.peek().kind == tokenString {
			parts = append(parts, p.next().text)
		}
		return &constant{at: p.made(t), value: strings.Join(parts, "")}
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

func (p *reader) parenthesis(open token) node {
	defer p.nested()()
	if p.takeSign(")") {
		return &listing{at: p.made(open), tuple: true}
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
	if p.peek().kind == tokenEnd {
		p.fail(open, "`"+open.text+"` is never closed", "")
	}
	p.unexpected(p.peek(), "`"+sign+"`")
}

func (p *reader) list(open token) node {
	defer p.nested()()
	l := &listing{at: p.made(open)}
	for !p.isSign("]") {
		l.items = append(l.items, p.expression(true))
		if !p.takeSign(",") {
			break
		}
	}
	p.wantClosing("]", open)
	return l
}

func (p *reader) dict(open token) node {
	defer p.nested()()
	d := &dict{at: p.made(open)}
	for !p.isSign("}") {
		p.noColon++
		d.keys = append(d.keys, p.expression(true))
		p.noColon--
		p.wantSign(":")
		d.values = append(d.values, p.expression(true))
		if !p.takeSign(",") {
			break
		}
	}
	p.wantClosing("}", open)
	return d
}

func (p *reader) postfix(n node) node {
	for {
		t := p.peek()
		switch {
		case p.takeSign("."):
			key := p.next()
			switch key.kind {
			case tokenName:
				k := &constant{at: p.made(key), value: key.text}
				n = &member{at: at(n.offset()), of: n, key: k, dot: true, keyAt: key.start, end: key.end}
			case tokenNumber:
				k := &constant{at: p.made(key), value: key.value}
				n = &member{at: at(n.offset()), of: n, key: k, dot: true, keyAt: key.start, end: key.end}
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
			case *variable:
				markSecret(f, args)
				if known, ok := builtinFunctions[f.name]; ok {
					p.checkArguments("function", f.name, known.params, args, t)
				}
			case *member:
				p.noteChange(f)
			}
			n = &call{at: at(n.offset()), function: n, args: args}
		default:
			return n
		}
	}
}

// noteChange notes the name whose value a method changes.
func (p *reader) noteChange(method *member) {
	root, isName := method.of.(*variable)
	key, isConstant := method.key.(*constant)
	if !isName || !isConstant {
		return
	}
	if name, isText := key.value.(string); isText && changes[name] {
		p.changed = append(p.changed, root.name)
	}
}

// markSecret reads env('NAME', secret), where secret is a word and no variable.
func markSecret(f *variable, args []argument) {
	for i := 1; f.name == "env" && i < len(args); i++ {
		if v, ok := args[i].value.(*variable); ok && v.name == "secret" && args[i].name == "" {
			args[i].name, args[i].value = "secret", &constant{at: v.at, value: true}
		}
	}
}

func (p *reader) subscript(of node, open token) node {
	defer p.nested()()
	defer p.deeper()()
	p.noColon++
	var parts [3]node
	i, colons := 0, 0
	for !p.isSign("]") {
		if p.takeSign(":") {
			colons++
			if i++; i > 2 {
				p.unexpected(p.tokens[p.i-1], "`]`")
			}
			continue
		}
		if parts[i] != nil {
			p.wantClosing("]", open)
		}
		parts[i] = p.tuple(true)
	}
	closing := p.next()
	if colons > 0 {
		p.made(open)
		return &slicing{at: at(of.offset()), of: of, from: parts[0], to: parts[1], step: parts[2]}
	}
	if parts[0] == nil {
		p.fail(closing, "unexpected `]`: expected a value", "")
	}
	p.made(open)
	return &member{at: at(of.offset()), of: of, key: negative(parts[0]), keyAt: open.start, end: closing.end}
}

// negative folds -1 into a constant, so that list[-1] has a constant path.
func negative(n node) node {
	if s, ok := n.(*signed); ok && s.minus {
		if c, ok := s.of.(*constant); ok {
			if i, ok := c.value.(int); ok {
				return &constant{at: s.at, value: -i}
			}
		}
	}
	return n
}

// arguments parses up to the closing parenthesis.
func (p *reader) arguments(open token) []argument {
	defer p.nested()()
	defer p.deeper()()
	var args []argument
	named := map[string]bool{}
	for !p.isSign(")") {
		t := p.peek()
		if t.kind == tokenSign && (t.text == "*" || t.text == "**") {
			p.fail(t, "unpacking arguments with `"+t.text+"` does not work here", "write the arguments out")
		}
		a := argument{at: t.start}
		if following := p.after(); t.kind == tokenName && following.kind == tokenSign && following.text == "=" {
			a.name = t.text
			p.i += 2
			if named[a.name] {
				p.fail(t, "the argument `"+a.name+"` is given twice", "")
			}
			named[a.name] = true
		} else if len(named) > 0 {
			p.fail(t, "a positional argument cannot follow a named one", "")
		}
		a.value = p.expression(true)
		args = append(args, a)
		if !p.takeSign(",") {
			break
		}
	}
	p.wantClosing(")", open)
	return args
}

func (p *reader) filter(in node) node {
	name := p.wantName("the name of a filter")
	f := &filtering{at: p.made(name), name: p.dotted(name), in: in}
	f.end = p.tokens[p.i-1].end
	def, err := findFilter(f.name)
	if err != nil {
		p.lack(name.start, f.end, err)
	}
	f.def = def
	switch {
	case p.isSign("("):
		f.args = p.arguments(p.next())
	case p.noColon == 0 && p.isSign(":"):
		p.i++
		f.args = []argument{{value: p.unary(), at: p.tokens[p.i-1].start}}
	}
	p.checkArguments("filter", f.name, def.params, f.args, name)
	p.checkNames(f)
	return f
}

// checkNames looks up the filters and tests that map, select and their like name in their arguments.
func (p *reader) checkNames(f *filtering) {
	place, isTest := 0, true
	switch f.name {
	case "map":
		isTest = false
	case "select", "reject":
	case "selectattr", "rejectattr":
		place = 1
	default:
		return
	}
	if len(f.args) <= place || f.args[place].name != "" {
		return
	}
	c, ok := f.args[place].value.(*constant)
	if !ok || !isString(c.value) {
		return
	}
	_, err := findTest(Text(c.value))
	if !isTest {
		_, err = findFilter(Text(c.value))
	}
	if err != nil {
		from := f.args[place].at
		p.lack(from, from+len(Text(c.value))+2, err)
	}
}

// dotted takes a qualified name, such as ansible.builtin.combine, and gives its last part.
func (p *reader) dotted(first token) string {
	name := first.text
	for p.isSign(".") && p.after().kind == tokenName {
		p.i++
		name = p.next().text
	}
	return name
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

func (p *reader) test(in node) node {
	var negated *negation
	if p.isName("not") {
		negated = &negation{at: p.made(p.next())}
	}
	name := p.next()
	if name.kind != tokenName {
		if name.kind != tokenEnd {
			p.i--
		}
		p.unexpected(name, "the name of a test after `is`")
	}
	t := &testing{at: p.made(name), name: p.dotted(name), in: in}
	t.end = p.tokens[p.i-1].end
	def, err := findTest(t.name)
	if err != nil {
		p.lack(name.start, t.end, err)
	}
	t.def = def
	switch {
	case p.isSign("("):
		t.args = p.arguments(p.next())
	case startsArgument(p.peek()) && len(def.params.names) > 0:
		first := p.peek()
		t.args = []argument{{value: p.postfix(p.primary()), at: first.start}}
	}
	p.checkArguments("test", t.name, def.params, t.args, name)
	if negated != nil {
		negated.of = t
		return negated
	}
	return t
}

// checkArguments finds superfluous, misspelt and missing arguments before anything runs.
func (p *reader) checkArguments(kind, name string, params params, args []argument, where token) {
	if params.open {
		return
	}
	filled := make([]bool, len(params.names))
	for i, a := range args {
		place := i
		if a.name != "" {
			place = slices.Index(params.names, a.name)
			if place < 0 {
				p.fail(token{start: a.at, end: a.at + len(a.name)}, kind+" `"+name+"` has no argument `"+a.name+"`",
					suggest.DidYouMean(a.name, params.names))
			}
			if filled[place] {
				p.fail(token{start: a.at, end: a.at + len(a.name)}, "the argument `"+a.name+"` is given twice", "")
			}
		} else if params.rest {
			continue
		}
		if place >= len(filled) {
			p.fail(token{start: a.at, end: a.at}, kind+" `"+name+"` takes "+params.count()+", not "+counted(len(args), "argument"), "")
		}
		filled[place] = true
	}
	if params.seed && !filled[len(filled)-1] {
		p.fail(where, kind+" `"+name+"` "+unseeded, seedHint)
	}
	for i := range params.required {
		if !filled[i] && !params.rest {
			p.fail(where, kind+" `"+name+"` needs the argument `"+params.names[i]+"`", "")
		}
	}
}

// counted writes 1 argument, 2 arguments.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// parseExpression parses tokens that must be one whole expression.
func parseExpression(tokens []token) (node, error) {
	n, _, err := readExpression(tokens)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// readExpression also gives the reader, for what it came past.
func readExpression(tokens []token) (n node, p *reader, wrong *Error) {
	p = &reader{tokens: tokens}
	var err error
	defer func() { wrong, _ = asError(err) }()
	defer catchSyntax(&err)
	if p.peek().kind == tokenEnd {
		p.fail(p.peek(), "there is no expression here", "")
	}
	n = p.tuple(true)
	p.wantEnd()
	return n, p, nil
}
