package eval

import (
	"maps"
	"slices"
	"strings"
)

// tagParser turns the pieces of a template into a tree.
type tagParser struct {
	text   string
	files  bool // tags may read other files
	pieces []piece
	i      int
	open   []*unclosed
}

// unclosed is a tag whose end has not come yet.
type unclosed struct {
	name  string
	start int
	sets  []string  // names that may have another value behind it
	inFor bool      // break and continue have a loop here
	macro *macroTag // the innermost
}

// tagReader reads one tag; tag is its name, piece the whole.
type tagReader struct {
	reader
	tag   token
	piece piece
}

// parseTags parses a template. The error is an *Error.
func parseTags(text string, pieces []piece, files bool) (body statements, err error) {
	p := &tagParser{text: text, files: files, pieces: pieces}
	defer catchSyntax(&err)
	body, _ = p.parseBody()
	return body, nil
}

// parseBody parses up to one of the tags that end it, and gives that tag; without any, up to the end of the text.
func (p *tagParser) parseBody(until ...string) (statements, *tagReader) {
	var list statements
	for ; p.i < len(p.pieces); p.i++ {
		piece := p.pieces[p.i]
		switch piece.kind {
		case pieceText:
			list = append(list, &verbatim{text: piece.text, at: piece.start})
		case pieceOutput:
			n, r, err := readOutput(p.text, piece)
			if err != nil {
				panic(err)
			}
			p.noteUse(r)
			list = append(list, &printing{of: n, start: piece.start, end: piece.end})
		case pieceTag:
			t := p.readTag(piece)
			if slices.Contains(until, t.tag.text) {
				p.i++
				return list, t
			}
			list = append(list, tags[t.tag.text](p, t))
		}
	}
	if len(p.open) > 0 {
		last := p.open[len(p.open)-1]
		panic(&Error{
			Message: "`{% " + last.name + " %}` is never closed", Hint: "end it with `{% end" + last.name + " %}`",
			Offset: last.start, Width: 2,
		})
	}
	return list, nil
}

// parseOutput parses the inside of {{ }}.
func parseOutput(text string, p piece) (node, error) {
	n, _, err := readOutput(text, p)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// readOutput also gives what the parser came past.
func readOutput(text string, p piece) (node, *reader, *Error) {
	n, r, err := readExpression(p.tokens)
	if err != nil {
		return nil, nil, withRawHint(text, p.start, err)
	}
	return n, r, nil
}

// forbidden are tags that read other files.
var forbidden = map[string]bool{"include": true, "import": true, "from": true, "extends": true}

// tags by name. What begins a block is here, and what stands in one or ends it. Filled by init, as tags reach this table
// through what they enclose.
var tags map[string]func(p *tagParser, t *tagReader) statement

func init() {
	tags = map[string]func(p *tagParser, t *tagReader) statement{
		"if": (*tagParser).parseIf, "for": (*tagParser).parseFor, "set": (*tagParser).parseSet, "with": (*tagParser).parseWith,
		"do": (*tagParser).parseDo, "macro": (*tagParser).parseMacro, "call": (*tagParser).parseCall, "filter": (*tagParser).parseFilter,
		"block": (*tagParser).parseBlock, "break": (*tagParser).parseExit, "continue": (*tagParser).parseExit,
		"include": (*tagParser).parseInclude, "import": (*tagParser).parseImport, "from": (*tagParser).parseFrom,
		"elif": (*tagParser).refuseTag, "else": (*tagParser).refuseTag,
	}
	for _, name := range []string{"if", "for", "set", "with", "macro", "call", "filter", "block"} {
		tags["end"+name] = (*tagParser).refuseTag
	}
}

// readTag begins to read a tag, which must be one that there is.
func (p *tagParser) readTag(piece piece) *tagReader {
	t := &tagReader{reader: reader{tokens: piece.tokens}, piece: piece}
	t.tag = t.next()
	if t.tag.kind != tokenName {
		t.fail(t.tag, "a tag begins with its name", rawHint)
	}
	_, known := tags[t.tag.text]
	switch {
	case forbidden[t.tag.text] && p.files && known:
	case forbidden[t.tag.text] && p.files:
		t.fail(t.tag, "`{% "+t.tag.text+" %}` is not available yet", "put what is shared into a file that `{% include %}` reads, or into macros that `{% import %}` gives")
	case forbidden[t.tag.text]:
		t.fail(t.tag, "`{% "+t.tag.text+" %}` is not available: a template cannot read other files", "")
	case !known:
		e := misspelt("tag", t.tag.text, slices.Sorted(maps.Keys(tags)))
		if e.Hint == "" {
			e.Hint = rawHint
		}
		t.fail(t.tag, e.Message, e.Hint)
	}
	return t
}

// endReading ends the reading of a tag.
func (p *tagParser) endReading(t *tagReader) {
	t.wantEnd()
	p.noteUse(&t.reader)
}

// noteUse tells the open tags what an expression in them does: which names it changes, and whether it is what makes a macro
// take arguments that it has no parameters for.
func (p *tagParser) noteUse(r *reader) {
	p.noteSet(r.changed...)
	if len(p.open) == 0 {
		return
	}
	m := p.open[len(p.open)-1].macro
	if m == nil {
		return
	}
	if r.varargs && m.varargs == "" && !m.has("varargs") {
		m.varargs = "varargs"
	}
	if r.kwargs && m.kwargs == "" && !m.has("kwargs") {
		m.kwargs = "kwargs"
	}
}

// noteSet notes that the values of names may change inside of the open tags.
func (p *tagParser) noteSet(names ...string) {
	if len(p.open) > 0 {
		top := p.open[len(p.open)-1]
		top.sets = append(top.sets, names...)
	}
}

// openTag opens a tag with an end.
func (p *tagParser) openTag(t *tagReader) *unclosed {
	if len(p.open) >= maxDepth {
		panic(&Error{Message: "the tags are nested too deeply", Offset: t.piece.start, Width: 2})
	}
	top := &unclosed{name: t.tag.text, start: t.piece.start}
	if len(p.open) > 0 {
		outer := p.open[len(p.open)-1]
		top.inFor, top.macro = outer.inFor, outer.macro
	}
	p.open = append(p.open, top)
	return top
}

// openMacro opens a tag whose body is run from elsewhere.
func (p *tagParser) openMacro(t *tagReader, n *macroTag) {
	top := p.openTag(t)
	top.inFor = false
	if n.name != "" { // a {% call %} gathers no arguments unless it says so
		top.macro = n
	}
}

// closeTag reads the end of the innermost tag.
func (p *tagParser) closeTag(end *tagReader) span {
	top := p.open[len(p.open)-1]
	switch top.name {
	case "block", "set", "macro", "call":
		if end.peek().kind == tokenName {
			end.next() // the name may be repeated
		}
	}
	end.wantEnd()
	p.open = p.open[:len(p.open)-1]
	p.noteSet(top.sets...) // what a block sets, the blocks around it set too
	slices.Sort(top.sets)
	return span{start: top.start, end: end.piece.end, sets: slices.Compact(top.sets)}
}

// parseEnclosed parses up to the end of the innermost tag.
func (p *tagParser) parseEnclosed() (statements, span) {
	p.i++
	body, end := p.parseBody("end" + p.open[len(p.open)-1].name)
	p.i--
	return body, p.closeTag(end)
}

// refuseTag is the error for what ends a block, or begins a part of one, elsewhere.
func (p *tagParser) refuseTag(t *tagReader) statement {
	if len(p.open) > 0 {
		top := p.open[len(p.open)-1].name
		state := " is still open"
		if top == "if" && (t.tag.text == "else" || t.tag.text == "elif") || top == "for" && t.tag.text == "else" {
			state = " has its `{% else %}`"
		}
		t.fail(t.tag, "unexpected `{% "+t.tag.text+" %}`: `{% "+top+" %}`"+state, "")
	}
	begun := strings.TrimPrefix(t.tag.text, "end")
	if t.tag.text == "elif" || t.tag.text == "else" {
		begun = "if"
	}
	t.fail(t.tag, "unexpected `{% "+t.tag.text+" %}`: no `{% "+begun+" %}` is open", "")
	return nil
}

func (p *tagParser) parseIf(t *tagReader) statement {
	n := &ifTag{}
	p.openTag(t)
	cond := t.expression(true)
	for {
		p.endReading(t)
		p.i++
		// An else is the last branch.
		ends := []string{"endif"}
		if cond != nil {
			ends = []string{"elif", "else", "endif"}
		}
		body, end := p.parseBody(ends...)
		p.i--
		n.branches = append(n.branches, branch{cond: cond, body: body})
		switch end.tag.text {
		case "endif":
			n.span = p.closeTag(end)
			return n
		case "elif":
			cond = end.expression(true)
		default:
			cond = nil
		}
		t = end
	}
}

func (p *tagParser) parseFor(t *tagReader) statement {
	n := &forTag{names: t.parseTargets()}
	if !t.takeName("in") {
		t.unexpected(t.peek(), "`in`")
	}
	n.in = t.tuple(false)
	top := p.openTag(t)
	if t.takeName("if") {
		n.cond = t.expression(true)
	}
	n.recursive = t.takeName("recursive")
	p.endReading(t)
	outer := top.inFor
	top.inFor = true
	p.i++
	body, end := p.parseBody("else", "endfor")
	n.body = body
	if end.tag.text == "else" {
		p.endReading(end)
		top.inFor = outer // a break in the else of a loop is one of the loop around it
		n.empty, end = p.parseBody("endfor")
	}
	p.i--
	n.span = p.closeTag(end)
	return n
}

// parseTargets parses a, b, c and (a, b).
func (t *tagReader) parseTargets() []string {
	parens := t.takeSign("(")
	var names []string
	for {
		name := t.wantName("a name")
		if keywords[name.text] {
			t.fail(name, "`"+name.text+"` cannot be a name", "")
		}
		names = append(names, name.text)
		if !t.takeSign(",") || t.peek().kind != tokenName {
			break
		}
	}
	if parens {
		t.wantSign(")")
	}
	return names
}

func (p *tagParser) parseSet(t *tagReader) statement {
	if next := t.after(); next.kind == tokenSign && (next.text == "." || next.text == "[") {
		return p.parseSetMember(t)
	}
	first := t.peek()
	names := t.parseTargets()
	p.noteSet(names...)
	if t.takeSign("=") {
		n := &setTag{names: names, value: t.tuple(true)}
		p.endReading(t)
		return n
	}
	if len(names) > 1 {
		t.unexpected(t.peek(), "`=`")
	}
	n := &captureTag{name: names[0]}
	var chain node = &variable{at: at(first.start), name: names[0]}
	for t.takeSign("|") {
		chain = t.filter(chain)
		n.value = chain
	}
	p.openTag(t)
	p.noteSet(names...)
	p.endReading(t)
	n.body, n.span = p.parseEnclosed()
	return n
}

// parseSetMember parses {% set ns.x = value %}.
func (p *tagParser) parseSetMember(t *tagReader) statement {
	target := t.postfix(t.primary())
	m, ok := target.(*member)
	root, isVariable := firstName(target)
	if !ok || !isVariable || !m.isConstant() {
		t.fail(t.tag, "`{% set %}` needs a name or a part of a namespace, `ns.x`", "")
	}
	p.noteSet(root.name)
	t.wantSign("=")
	n := &doTag{of: &assignment{at: at(target.offset()), target: m, value: t.tuple(true)}}
	p.endReading(t)
	return n
}

func (p *tagParser) parseDo(t *tagReader) statement {
	n := &doTag{of: t.expression(true)}
	p.endReading(t)
	return n
}

func (p *tagParser) parseWith(t *tagReader) statement {
	n := &withTag{}
	p.openTag(t)
	for t.peek().kind != tokenEnd {
		name := t.wantName("a name")
		t.wantSign("=")
		n.names, n.values = append(n.names, name.text), append(n.values, t.expression(true))
		if !t.takeSign(",") {
			break
		}
	}
	p.endReading(t)
	n.body, _ = p.parseEnclosed()
	return n
}

func (p *tagParser) parseMacro(t *tagReader) statement {
	n := &macroTag{name: t.wantName("the name of the macro").text}
	p.noteSet(n.name)
	p.openMacro(t, n)
	t.parseParameters(n)
	p.endReading(t)
	n.body, _ = p.parseEnclosed()
	return n
}

// parseParameters parses (a, b=1, *rest, **named).
func (t *tagReader) parseParameters(n *macroTag) {
	open := t.wantSign("(")
	for i := 0; !t.isSign(")"); i++ {
		if i > 0 {
			t.wantSign(",")
		}
		switch stars := t.peek(); {
		case t.takeSign("**"):
			n.kwargs = t.parseGathering(stars, n.kwargs)
		case t.takeSign("*"):
			n.varargs = t.parseGathering(stars, n.varargs)
		default:
			name := t.wantName("the name of a parameter")
			if n.has(name.text) {
				t.fail(name, "the parameter `"+name.text+"` is there twice", "")
			}
			p := param{name: name.text, value: &absent{at: at(name.start), name: name.text}}
			if t.takeSign("=") {
				p.value = t.expression(true)
			}
			n.params = append(n.params, p)
		}
	}
	t.wantClosing(")", open)
}

// parseGathering parses the name behind * or **, of which there is one.
func (t *tagReader) parseGathering(stars token, before string) string {
	name := t.wantName("a name after `" + stars.text + "`").text
	if before != "" {
		t.fail(stars, "only one parameter can have `"+stars.text+"`", "")
	}
	return name
}

func (p *tagParser) parseCall(t *tagReader) statement {
	n := &callTag{tagAt: t.tag.start, caller: &macroTag{}}
	if t.isSign("(") {
		t.parseParameters(n.caller)
	}
	of, ok := t.postfix(t.primary()).(*call)
	if !ok {
		t.fail(t.tag, notMacro, "")
	}
	n.of = of
	p.openMacro(t, n.caller)
	p.endReading(t)
	n.caller.body, n.span = p.parseEnclosed()
	return n
}

// notMacro is what is wrong with a {% call %} of something else.
const notMacro = "`{% call %}` needs the call of a macro of this text"

func (p *tagParser) parseFilter(t *tagReader) statement {
	chain := t.filter(&variable{at: at(t.tag.start), name: captured})
	for t.takeSign("|") {
		chain = t.filter(chain)
	}
	n := &filterTag{chain: chain}
	p.openTag(t)
	p.endReading(t)
	n.body, n.span = p.parseEnclosed()
	return n
}

// parseBlock parses a tag that is transparent: without {% extends %} a block stands where it stands.
func (p *tagParser) parseBlock(t *tagReader) statement {
	t.wantName("the name of the block")
	t.takeName("scoped")
	t.takeName("required")
	p.openTag(t)
	p.endReading(t)
	body, _ := p.parseEnclosed()
	return &blockTag{body: body}
}

func (p *tagParser) parseExit(t *tagReader) statement {
	if len(p.open) == 0 || !p.open[len(p.open)-1].inFor {
		t.fail(t.tag, "`{% "+t.tag.text+" %}` outside of a loop", "")
	}
	p.endReading(t)
	return &exitTag{again: t.tag.text == "continue"}
}

// parseInclude parses {% include 'file' %}, {% include file ignore missing %}, {% include file without context %}.
func (p *tagParser) parseInclude(t *tagReader) statement {
	n := &including{at: at(t.piece.start), of: t.expression(true)}
	if t.takeName("ignore") {
		if !t.takeName("missing") {
			t.unexpected(t.peek(), "`missing`")
		}
		n.absent = true
	}
	if t.isName("with") || t.isName("without") {
		n.alone = t.next().text == "without"
		if !t.takeName("context") {
			t.unexpected(t.peek(), "`context`")
		}
	}
	p.endReading(t)
	return &printing{of: n, start: t.piece.start, end: t.piece.end}
}

// parseImport parses {% import 'file' as name %}.
func (p *tagParser) parseImport(t *tagReader) statement {
	n := &importTag{file: &importing{at: at(t.piece.start), of: t.expression(true)}}
	if !t.takeName("as") {
		t.unexpected(t.peek(), "`as`")
	}
	n.name = t.wantName("a name").text
	n.file.context = t.takeContext()
	p.noteSet(n.name)
	p.endReading(t)
	return n
}

// parseFrom parses {% from 'file' import a, b as c %}.
func (p *tagParser) parseFrom(t *tagReader) statement {
	n := &fromTag{file: &importing{at: at(t.piece.start), of: t.expression(true)}}
	if !t.takeName("import") {
		t.unexpected(t.peek(), "`import`")
	}
	for t.peek().kind == tokenName && !t.isContext() {
		name := t.next()
		as := name
		if t.takeName("as") {
			as = t.wantName("a name")
		}
		from := at(name.start)
		n.parts = append(n.parts, &member{
			at: from, of: &variable{at: from, name: imported}, key: &constant{at: from, value: name.text}, keyAt: name.start, end: name.end,
		})
		n.names = append(n.names, as.text)
		if !t.takeSign(",") {
			break
		}
	}
	if len(n.names) == 0 {
		t.unexpected(t.peek(), "a name")
	}
	n.file.context = t.takeContext()
	p.noteSet(n.names...)
	p.endReading(t)
	return n
}

func (t *tagReader) isContext() bool {
	next := t.after()
	return (t.isName("with") || t.isName("without")) && next.kind == tokenName && next.text == "context"
}

func (t *tagReader) takeContext() bool {
	if !t.isContext() {
		return false
	}
	with := t.next().text == "with"
	t.next()
	return with
}
