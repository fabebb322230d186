package eval

import (
	"maps"
	"slices"
	"strconv"

	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// A template with tags is run by gonja. We hand it a stream of tokens in which every expression is replaced by a number
// and one of our filters, {% if 3|value %}: gonja's parser sees to the structure, its control structures run, and our
// evaluator computes. So the same text means the same inside and outside of a tag, and what is unknown stays visible.

// hooked is an expression that gonja reaches by its number.
type hooked struct {
	node       node
	start, end int // of the output as written, which stands for it while it is open
	names      int // of a loop: how many names an item is unpacked into
}

// block is a tag with an end, or a set.
type block struct {
	name       string
	start, end int      // in the text, end tag included
	sets       []string // names that may have another value behind the block
	captures   bool     // the text inside is not the template's own
	number     int
	after      func() // what to emit behind the end tag
}

// frame is one level of names during compilation.
type frame map[string]binding

type builder struct {
	engine *Engine
	text   string
	collector
	stream []*tokens.Token
	exprs  []hooked
	blocks []block
	open   []int // of blocks
	frames []frame
	temps  int
	macros []string
}

// The names of our filters in gonja's stream.
const (
	hookText  = "text"  // prints
	hookValue = "value" // decides an if
	hookList  = "list"  // gives the items of a loop
	hookBind  = "bind"  // gives a name its value
	hookDo    = "do"    // evaluates for the effect
	hookApply = "apply" // filters captured text
)

// captured is the name that holds the text of a {% filter %} block.
const captured = "\x00captured"

func newBuilder(e *Engine, text string) *builder {
	b := &builder{engine: e, text: text, frames: []frame{{}}}
	b.collector = collector{engine: e, bound: b.binding}
	return b
}

func (b *builder) binding(name string) binding {
	for _, f := range slices.Backward(b.frames) {
		if bound, ok := f[name]; ok {
			return bound
		}
	}
	return free
}

func (b *builder) bind(names ...string) {
	for _, name := range names {
		b.frames[len(b.frames)-1][name] = certain
	}
}

// capturing reports whether text emitted now goes into a macro or a variable.
func (b *builder) capturing() bool {
	return slices.ContainsFunc(b.open, func(i int) bool { return b.blocks[i].captures })
}

func (b *builder) emit(kind tokens.Type, value string, pos int) {
	b.stream = append(b.stream, &tokens.Token{Type: kind, Val: value, Pos: pos, Line: 1, Col: pos + 1})
}

func (b *builder) name(s string, pos int)   { b.emit(tokens.Name, s, pos) }
func (b *builder) number(n int, pos int)    { b.emit(tokens.Integer, strconv.Itoa(n), pos) }
func (b *builder) beginTag(s string, p int) { b.emit(tokens.BlockBegin, "{%", p); b.name(s, p) }
func (b *builder) endTag(pos int)           { b.emit(tokens.BlockEnd, "%}", pos) }

// expr notes an expression and emits its number with the filter that evaluates it.
func (b *builder) expr(hook string, h hooked) {
	b.use(h.node)
	b.call(hook, h)
}

// use notes what an expression refers to, and what its method calls change.
func (b *builder) use(n node) {
	b.node(n, false)
	for _, name := range b.changed {
		b.touches(name)
	}
	b.changed = nil
}

func (b *builder) call(hook string, h hooked) {
	b.exprs = append(b.exprs, h)
	b.number(len(b.exprs)-1, h.start)
	b.emit(tokens.Pipe, "|", h.start)
	b.name(hook, h.start)
}

func (b *builder) output(n node, start, end int) {
	b.emit(tokens.VariableBegin, "{{", start)
	b.expr(hookText, hooked{node: n, start: start, end: end})
	b.emit(tokens.VariableEnd, "}}", end)
}

// set emits {% set name = n %}.
func (b *builder) set(name string, n node, pos int) {
	b.beginTag("set", pos)
	b.number(-1, pos)
	b.name(name, pos)
	b.emit(tokens.Assign, "=", pos)
	b.call(hookBind, hooked{node: n, start: pos, end: pos})
	b.endTag(pos)
}

// compile emits all pieces and has gonja build its tree.
func (b *builder) compile(pieces []piece) (tree *nodes.Template, err error) {
	defer catchSyntax(&err)
	for _, p := range pieces {
		switch p.kind {
		case pieceText:
			b.plainText(p)
		case pieceOutput:
			n, err := parseOutput(b.text, p)
			if err != nil {
				return nil, err
			}
			b.output(n, p.start, p.end)
		case pieceTag:
			b.tag(p)
		}
	}
	if len(b.open) > 0 {
		last := b.blocks[b.open[len(b.open)-1]]
		return nil, &Error{
			Message: "`{% " + last.name + " %}` is never closed", Hint: "end it with `{% end" + last.name + " %}`",
			Offset: last.start, Width: 2,
		}
	}
	if err := b.unknownFunction(b.macros); err != nil {
		return nil, err
	}
	tree, err = parser.NewParser("", tokens.NewStream(b.stream), gonjaConfig, noFiles, structures).Parse()
	if err != nil {
		return nil, &Error{Message: "the tags cannot be understood: " + gonjaSentence(err), Offset: -1}
	}
	return tree, nil
}

// plainText emits text. Inside of captured text it becomes an output, because only outputs are counted.
func (b *builder) plainText(p piece) {
	if b.capturing() {
		b.emit(tokens.VariableBegin, "{{", p.start)
		b.call(hookText, hooked{node: &constant{at: at(p.start), value: p.text}, start: p.start, end: p.end})
		b.emit(tokens.VariableEnd, "}}", p.end)
		return
	}
	b.emit(tokens.Data, p.text, p.start)
}

// parseOutput parses the inside of {{ }}.
func parseOutput(text string, p piece) (node, error) {
	n, err := parseExpression(p.tokens)
	if e, ok := asError(err); ok {
		return nil, withRawHint(text, p.start, e)
	}
	return n, err
}

// forbidden are tags that read other files.
var forbidden = map[string]bool{"include": true, "import": true, "from": true, "extends": true}

// tags by name; filled by init, as tag handlers reach this table through others.
var tags map[string]func(b *builder, p *tagReader, piece piece)

func init() {
	tags = map[string]func(b *builder, p *tagReader, piece piece){
		"if": (*builder).tagIf, "elif": (*builder).tagElif, "else": (*builder).tagElse,
		"for": (*builder).tagFor, "set": (*builder).tagSet, "with": (*builder).tagWith, "do": (*builder).tagDo,
		"macro": (*builder).tagMacro, "call": (*builder).tagCall, "filter": (*builder).tagFilter, "block": (*builder).tagBlock,
		"break": (*builder).tagBreak, "continue": (*builder).tagBreak, "include": (*builder).tagInclude, "import": (*builder).tagImport, "from": (*builder).tagFrom,
	}
	for _, name := range []string{"if", "for", "set", "with", "macro", "call", "filter", "block"} {
		tags["end"+name] = (*builder).tagEnd
	}
}

// tagReader reads one tag; tag is its name.
type tagReader struct {
	reader
	tag token
}

func (b *builder) tag(p piece) {
	t := &tagReader{reader: reader{tokens: p.tokens}}
	t.tag = t.next()
	if t.tag.kind != tokenName {
		t.fail(t.tag, "a tag begins with its name", rawHint)
	}
	run, ok := tags[t.tag.text]
	switch {
	case forbidden[t.tag.text] && b.engine.Python && ok:
	case forbidden[t.tag.text] && b.engine.Python:
		t.fail(t.tag, "`{% "+t.tag.text+" %}` is not available yet", "put what is shared into a file that `{% include %}` reads, or into macros that `{% import %}` gives")
	case forbidden[t.tag.text]:
		t.fail(t.tag, "`{% "+t.tag.text+" %}` is not available: a template cannot read other files", "")
	case !ok:
		e := misspelt("tag", t.tag.text, slices.Sorted(maps.Keys(tags)))
		if e.Hint == "" {
			e.Hint = rawHint
		}
		t.fail(t.tag, e.Message, e.Hint)
	}
	run(b, t, p)
	t.wantEnd()
}

// begin opens a block.
func (b *builder) begin(name string, p piece, captures bool) *block {
	if len(b.open) >= maxDepth {
		panic(&Error{Message: "the tags are nested too deeply", Offset: p.start, Width: 2})
	}
	b.blocks = append(b.blocks, block{name: name, start: p.start, captures: captures, number: len(b.blocks)})
	b.open = append(b.open, len(b.blocks)-1)
	return &b.blocks[len(b.blocks)-1]
}

// current gives the innermost open block, which must be one of names.
func (b *builder) current(t token, names ...string) *block {
	if len(b.open) > 0 {
		bl := &b.blocks[b.open[len(b.open)-1]]
		if slices.Contains(names, bl.name) {
			return bl
		}
		panic(&Error{
			Message: "unexpected `{% " + t.text + " %}`: `{% " + bl.name + " %}` is still open", Offset: t.start, Width: t.end - t.start,
		})
	}
	panic(&Error{Message: "unexpected `{% " + t.text + " %}`: no `{% " + names[0] + " %}` is open", Offset: t.start, Width: t.end - t.start})
}

func (b *builder) push(names ...string) {
	b.frames = append(b.frames, frame{})
	b.bind(names...)
}

func (b *builder) pop() { b.frames = b.frames[:len(b.frames)-1] }

// leaveBranch ends the names of a branch: whether they are set behind it depends on the way taken.
func (b *builder) leaveBranch() {
	branch := b.frames[len(b.frames)-1]
	b.pop()
	outer := b.frames[len(b.frames)-1]
	for name := range branch {
		if b.binding(name) == free {
			outer[name] = maybe
		}
	}
}

func (b *builder) tagEnd(p *tagReader, pc piece) {
	name := p.tag.text[len("end"):]
	bl := b.current(p.tag, name)
	if name == "block" || name == "set" || name == "macro" || name == "call" {
		if p.peek().kind == tokenName {
			p.next() // the name may be repeated
		}
	}
	b.open = b.open[:len(b.open)-1]
	bl.end = pc.end
	switch name {
	case "if":
		b.leaveBranch()
	case "for", "with", "macro", "filter":
		b.pop()
	}
	if name != "block" {
		b.beginTag(p.tag.text, pc.start)
		b.endTag(pc.end)
	}
	// What a block sets, the blocks around it set too.
	if len(b.open) > 0 {
		outer := &b.blocks[b.open[len(b.open)-1]]
		outer.sets = append(outer.sets, bl.sets...)
	}
	if bl.after != nil {
		bl.after()
	}
}

// touches notes that the value of a name may change inside of the open blocks.
func (b *builder) touches(name string) {
	if len(b.open) > 0 {
		bl := &b.blocks[b.open[len(b.open)-1]]
		bl.sets = append(bl.sets, name)
	}
}

func (b *builder) tagIf(p *tagReader, pc piece) {
	bl := b.begin("if", pc, false)
	n := p.expression(true)
	b.beginTag("if", pc.start)
	b.number(bl.number, pc.start)
	b.expr(hookValue, hooked{node: n, start: pc.start, end: pc.end})
	b.endTag(pc.end)
	b.push()
}

func (b *builder) tagElif(p *tagReader, pc piece) {
	b.current(p.tag, "if")
	b.leaveBranch()
	n := p.expression(true)
	b.beginTag("elif", pc.start)
	b.expr(hookValue, hooked{node: n, start: pc.start, end: pc.end})
	b.endTag(pc.end)
	b.push()
}

func (b *builder) tagElse(p *tagReader, pc piece) {
	bl := b.current(p.tag, "if", "for")
	if bl.name == "if" {
		b.leaveBranch()
	} else {
		b.pop() // the loop's names do not exist in its else
	}
	b.push()
	b.beginTag("else", pc.start)
	b.endTag(pc.end)
}

func (b *builder) tagFor(p *tagReader, pc piece) {
	names := p.targets()
	if !p.takeName("in") {
		p.unexpected(p.peek(), "`in`")
	}
	list := p.tuple(false)
	bl := b.begin("for", pc, false)
	b.beginTag("for", pc.start)
	b.number(bl.number, pc.start)
	unpacked := names
	if len(names) > 2 { // gonja knows one and two
		b.temps++
		unpacked = []string{"\x00item" + strconv.Itoa(b.temps)}
	}
	for i, name := range unpacked {
		if i > 0 {
			b.emit(tokens.Comma, ",", pc.start)
		}
		b.name(name, pc.start)
	}
	b.emit(tokens.In, "in", pc.start)
	b.expr(hookList, hooked{node: list, start: pc.start, end: pc.end, names: len(names)})
	b.push(append(slices.Clone(names), "loop")...)
	if p.isName("if") {
		t := p.next()
		if len(names) > 2 {
			p.fail(t, "a loop over more than two names cannot have an `if`", "use `{% if %}` inside of the loop")
		}
		n := p.expression(true)
		b.name("if", pc.start)
		b.expr(hookValue, hooked{node: n, start: pc.start, end: pc.end})
	}
	if p.takeName("recursive") {
		b.name("recursive", pc.start)
	}
	b.endTag(pc.end)
	if len(names) > 2 {
		b.unpack(names, &variable{at: at(pc.start), name: unpacked[0]}, pc.start)
	}
}

// targets parses a, b, c and (a, b).
func (p *tagReader) targets() []string {
	parens := p.takeSign("(")
	var names []string
	for {
		t := p.wantName("a name")
		if keywords[t.text] {
			p.fail(t, "`"+t.text+"` cannot be a name", "")
		}
		names = append(names, t.text)
		if !p.takeSign(",") || p.peek().kind != tokenName {
			break
		}
	}
	if parens {
		p.wantSign(")")
	}
	return names
}

// unpack emits {% set a = of[0] %}{% set b = of[1] %}…
func (b *builder) unpack(names []string, of node, pos int) {
	for i, name := range names {
		b.set(name, &member{at: at(pos), of: of, key: &constant{at: at(pos), value: i}, keyAt: pos, end: pos}, pos)
	}
}

func (b *builder) tagSet(p *tagReader, pc piece) {
	if t := p.after(); t.kind == tokenSign && (t.text == "." || t.text == "[") {
		b.setMember(p, pc)
		return
	}
	first := p.peek()
	names := p.targets()
	for _, name := range names {
		b.touches(name)
	}
	if p.takeSign("=") {
		value := p.tuple(true)
		b.use(value)
		if len(names) == 1 {
			b.set(names[0], value, pc.start)
		} else {
			b.temps++
			temp := "\x00set" + strconv.Itoa(b.temps)
			b.set(temp, &unpacking{at: at(value.offset()), of: value, names: len(names)}, pc.start)
			b.unpack(names, &variable{at: at(first.start), name: temp}, pc.start)
		}
		b.bind(names...)
		return
	}
	if len(names) > 1 {
		p.unexpected(p.peek(), "`=`")
	}
	var chain node = &variable{at: at(first.start), name: names[0]}
	for p.takeSign("|") {
		chain = p.filter(chain)
	}
	bl := b.begin("set", pc, true)
	bl.sets = append(bl.sets, names[0])
	b.beginTag("set", pc.start)
	b.number(bl.number, pc.start)
	b.name(names[0], pc.start)
	b.endTag(pc.end)
	name := names[0]
	bl.after = func() {
		b.bind(name)
		if _, isFiltered := chain.(*filtering); isFiltered {
			b.use(chain)
			b.set(name, chain, pc.start)
		}
	}
}

// setMember is {% set ns.x = value %}.
func (b *builder) setMember(p *tagReader, pc piece) {
	target := p.postfix(p.primary())
	m, ok := target.(*member)
	root, isVariable := firstName(target)
	if !ok || !isVariable || !m.isConstant() {
		p.fail(p.tag, "`{% set %}` needs a name or a part of a namespace, `ns.x`", "")
	}
	b.touches(root.name)
	p.wantSign("=")
	value := p.tuple(true)
	b.beginTag("do", pc.start)
	b.expr(hookDo, hooked{node: &assignment{at: at(target.offset()), target: m, value: value}, start: pc.start, end: pc.end})
	b.endTag(pc.end)
}

func (b *builder) tagDo(p *tagReader, pc piece) {
	n := p.expression(true)
	b.beginTag("do", pc.start)
	b.expr(hookDo, hooked{node: n, start: pc.start, end: pc.end})
	b.endTag(pc.end)
}

// tagWith evaluates all values before it binds the first name: they belong to the outside.
func (b *builder) tagWith(p *tagReader, pc piece) {
	b.begin("with", pc, false)
	b.beginTag("with", pc.start)
	b.endTag(pc.end)
	var names, temps []string
	for p.peek().kind != tokenEnd {
		name := p.wantName("a name")
		p.wantSign("=")
		value := p.expression(true)
		b.use(value)
		b.temps++
		temp := "\x00with" + strconv.Itoa(b.temps)
		b.set(temp, value, pc.start)
		names, temps = append(names, name.text), append(temps, temp)
		if !p.takeSign(",") {
			break
		}
	}
	b.push(names...)
	for i, name := range names {
		b.set(name, &variable{at: at(pc.start), name: temps[i]}, pc.start)
	}
}

func (b *builder) tagMacro(p *tagReader, pc piece) {
	name := p.wantName("the name of the macro")
	b.bind(name.text)
	b.touches(name.text)
	b.macros = append(b.macros, name.text)
	b.begin("macro", pc, true)
	b.beginTag("macro", pc.start)
	b.name(name.text, pc.start)
	open := p.wantSign("(")
	b.emit(tokens.LeftParenthesis, "(", pc.start)
	params := []string{"caller", "varargs", "kwargs"}
	for i := 0; !p.isSign(")"); i++ {
		if i > 0 {
			p.wantSign(",")
			b.emit(tokens.Comma, ",", pc.start)
		}
		switch {
		case p.takeSign("**"):
			b.emit(tokens.Power, "**", pc.start)
			t := p.wantName("a name after `**`")
			b.name(t.text, pc.start)
			params = append(params, t.text)
		case p.takeSign("*"):
			b.emit(tokens.Multiply, "*", pc.start)
			t := p.wantName("a name after `*`")
			b.name(t.text, pc.start)
			params = append(params, t.text)
		default:
			t := p.wantName("the name of a parameter")
			params = append(params, t.text)
			b.name(t.text, pc.start)
			b.emit(tokens.Assign, "=", pc.start)
			var value node = &absent{at: at(t.start), name: t.text}
			if p.takeSign("=") {
				value = p.expression(true)
			}
			b.expr(hookBind, hooked{node: value, start: pc.start, end: pc.end})
		}
	}
	p.wantClosing(")", open)
	b.emit(tokens.RightParenthesis, ")", pc.start)
	b.endTag(pc.end)
	b.push(params...)
}

func (b *builder) tagCall(p *tagReader, pc piece) {
	if p.isSign("(") {
		p.fail(p.peek(), "`{% call %}` with parameters is not supported", "")
	}
	n, ok := p.postfix(p.primary()).(*call)
	var name *variable
	if ok {
		name, ok = b.macroOf(n, pc)
	}
	if !ok || b.binding(name.name) == free {
		p.fail(p.tag, "`{% call %}` needs the call of a macro of this text", "")
	}
	bl := b.begin("call", pc, true)
	b.beginTag("call", pc.start)
	b.number(bl.number, pc.start)
	b.name(name.name, pc.start)
	b.emit(tokens.LeftParenthesis, "(", pc.start)
	for i, a := range n.args {
		if i > 0 {
			b.emit(tokens.Comma, ",", pc.start)
		}
		if a.name != "" {
			b.name(a.name, pc.start)
			b.emit(tokens.Assign, "=", pc.start)
		}
		b.expr(hookBind, hooked{node: a.value, start: pc.start, end: pc.end})
	}
	b.emit(tokens.RightParenthesis, ")", pc.start)
	b.endTag(pc.end)
}

// macroOf is the name of the macro that a call is of. One of an imported file gets a name of its own, because gonja calls names.
func (b *builder) macroOf(n *call, pc piece) (*variable, bool) {
	name, ok := n.function.(*variable)
	m, isMember := n.function.(*member)
	if !isMember {
		return name, ok
	}
	if root, ok := m.of.(*variable); !ok || b.binding(root.name) == free {
		return nil, false
	}
	b.temps++
	name = &variable{at: m.at, name: "\x00macro" + strconv.Itoa(b.temps)}
	b.imported(name.name, m, pc)
	return name, true
}

func (b *builder) tagFilter(p *tagReader, pc piece) {
	chain := p.filter(&variable{at: at(p.tag.start), name: captured})
	for p.takeSign("|") {
		chain = p.filter(chain)
	}
	bl := b.begin("filter", pc, true)
	b.push(captured)
	b.beginTag("filter", pc.start)
	b.number(bl.number, pc.start)
	b.use(chain)
	b.exprs = append(b.exprs, hooked{node: chain, start: pc.start, end: pc.end})
	b.name(hookApply, pc.start)
	b.emit(tokens.LeftParenthesis, "(", pc.start)
	b.number(len(b.exprs)-1, pc.start)
	b.emit(tokens.RightParenthesis, ")", pc.start)
	b.endTag(pc.end)
}

// tagBlock is transparent: without {% extends %} a block stands where it stands.
func (b *builder) tagBlock(p *tagReader, pc piece) {
	p.wantName("the name of the block")
	p.takeName("scoped")
	p.takeName("required")
	b.begin("block", pc, false)
}

func (b *builder) tagBreak(p *tagReader, pc piece) {
	if !slices.ContainsFunc(b.open, func(i int) bool { return b.blocks[i].name == "for" }) {
		p.fail(p.tag, "`{% "+p.tag.text+" %}` outside of a loop", "")
	}
	b.beginTag(p.tag.text, pc.start)
	b.endTag(pc.end)
}
