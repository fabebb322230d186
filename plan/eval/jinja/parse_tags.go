package jinja

import (
	"maps"
	"slices"
	"strings"
)

// tagParser turns the pieces of a template into a tree.
type tagParser struct {
	language Language
	text     string
	pieces   []Piece
	i        int
	open     []*unclosed
	blocks   []*BlockTag
	extends  bool
	changes  bool // a method changes a list or map
}

// unclosed is a tag whose end has not come yet.
type unclosed struct {
	name    string
	start   int
	sets    []string  // names that may have another value behind it
	changes []string  // names by which methods reach what they change
	inFor   bool      // break and continue have a loop here
	macro   *MacroTag // the innermost
}

// tagReader reads one tag; tag is its name, piece the whole.
type tagReader struct {
	reader
	tag   token
	piece Piece
}

// Tree is a template with tags.
type Tree struct {
	Body    Statements
	Blocks  []*BlockTag // all that are in it, however deep
	Extends bool        // another template, perhaps under a condition
	Changes bool        // a method in it changes a list or map
}

// ParseTags parses a template. The error is an *Error.
func ParseTags(l Language, text string, pieces []Piece) (t *Tree, err error) {
	p := &tagParser{language: l, text: text, pieces: pieces}
	defer catchSyntax(&err)
	body, _ := p.parseBody()
	return &Tree{Body: body, Blocks: p.blocks, Extends: p.extends, Changes: p.changes}, nil
}

// parseBody parses up to one of the tags that end it, and gives that tag; without any, up to the end of the text.
func (p *tagParser) parseBody(until ...string) (Statements, *tagReader) {
	var list Statements
	for ; p.i < len(p.pieces); p.i++ {
		piece := p.pieces[p.i]
		switch piece.Kind {
		case PieceText:
			list = append(list, &Verbatim{Text: piece.Text, at: piece.Start})
		case PieceOutput:
			n, r, err := readOutput(p.language, p.text, piece)
			if err != nil {
				panic(err)
			}
			// An output may change a list too: {{ x.append(1) }}.
			p.noteUse(r)
			list = append(list, &Printing{Of: n, Start: piece.Start, End: piece.End, Changes: r.changed})
		case PieceTag:
			t := p.readTag(piece)
			// Behind it already, so that a caller that reads another body need not step over it.
			if slices.Contains(until, t.tag.text) {
				p.i++
				return list, t
			}
			list = append(list, tags[t.tag.text](p, t))
		}
	}
	// The innermost is named: it is the one whose end is missing first.
	if len(p.open) > 0 {
		last := p.open[len(p.open)-1]
		panic(&Error{
			Message: "`{% " + last.name + " %}` is never closed", Hint: "end it with `{% end" + last.name + " %}`",
			Offset: last.start, Width: 2,
		})
	}
	return list, nil
}

// ParseOutput parses the inside of {{ }}.
func ParseOutput(l Language, text string, p Piece) (Node, error) {
	n, _, err := readOutput(l, text, p)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// readOutput also gives what the parser came past.
func readOutput(l Language, text string, p Piece) (Node, *reader, *Error) {
	n, r, err := readExpression(l, p.Tokens)
	if err != nil {
		return nil, nil, withRawHint(text, p.Start, err)
	}
	return n, r, nil
}

// tags by name. What begins a block is here, and what stands in one or ends it. Filled by init, as tags reach this table
// through what they enclose.
var tags map[string]func(p *tagParser, t *tagReader) Statement

func init() {
	tags = map[string]func(p *tagParser, t *tagReader) Statement{
		"if": (*tagParser).parseIf, "for": (*tagParser).parseFor, "set": (*tagParser).parseSet, "with": (*tagParser).parseWith,
		"do": (*tagParser).parseDo, "macro": (*tagParser).parseMacro, "call": (*tagParser).parseCall, "filter": (*tagParser).parseFilter,
		"block": (*tagParser).parseBlock, "break": (*tagParser).parseExit, "continue": (*tagParser).parseExit,
		"extends": (*tagParser).parseExtends, "include": (*tagParser).parseInclude,
		"import": (*tagParser).parseImport, "from": (*tagParser).parseFrom,
		"elif": (*tagParser).refuseTag, "else": (*tagParser).refuseTag,
	}
	for _, name := range []string{"if", "for", "set", "with", "macro", "call", "filter", "block"} {
		tags["end"+name] = (*tagParser).refuseTag
	}
}

// TagNames lists the tags that every template has, without those that end another.
func TagNames() []string {
	names := []string{"raw", "verbatim"} // read before there are tags
	for name := range tags {
		if begun, ok := strings.CutPrefix(name, "end"); !ok || tags[begun] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// readTag begins to read a tag, which must be one that there is.
func (p *tagParser) readTag(piece Piece) *tagReader {
	t := &tagReader{reader: reader{language: p.language, tokens: piece.Tokens}, piece: piece}
	t.tag = t.next()
	if t.tag.kind != tokenName {
		t.fail(t.tag, "a tag begins with its name", rawHint)
	}
	if tags[t.tag.text] == nil {
		e := Misspelt("tag", t.tag.text, slices.Sorted(maps.Keys(tags)))
		// {% … %} may be meant for another program.
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
	p.changes = p.changes || len(r.changed) > 0
	if len(p.open) == 0 {
		return
	}
	top := p.open[len(p.open)-1]
	top.changes = append(top.changes, r.changed...)
	if r.calls {
		top.changes = append(top.changes, "")
	}
	for _, name := range r.changed {
		if name != "" {
			p.noteSet(name)
		}
	}
	// Only the innermost macro: a name within a nested one is that one's own.
	m := top.macro
	if m == nil {
		return
	}
	// A parameter of that name is an ordinary one.
	if r.varargs && m.Varargs == "" && !m.Has("varargs") {
		m.Varargs = "varargs"
	}
	if r.kwargs && m.Kwargs == "" && !m.Has("kwargs") {
		m.Kwargs = "kwargs"
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
	// Tags are parsed and run by recursion.
	if len(p.open) >= maxDepth {
		panic(&Error{Message: "the tags are nested too deeply", Offset: t.piece.Start, Width: 2})
	}
	top := &unclosed{name: t.tag.text, start: t.piece.Start}
	if len(p.open) > 0 {
		outer := p.open[len(p.open)-1]
		// Handed down, so that the innermost tag answers for all around it.
		top.inFor, top.macro = outer.inFor, outer.macro
	}
	p.open = append(p.open, top)
	return top
}

// openMacro opens a tag whose body is run from elsewhere.
func (p *tagParser) openMacro(t *tagReader, n *MacroTag) {
	top := p.openTag(t)
	// A break in a macro cannot leave the loop around it: the macro runs elsewhere.
	top.inFor = false
	if n.Name != "" { // a {% call %} gathers no arguments unless it says so
		top.macro = n
	}
}

// closeTag reads the end of the innermost tag.
func (p *tagParser) closeTag(end *tagReader) Span {
	top := p.open[len(p.open)-1]
	switch top.name {
	// Jinja allows it for blocks and macros: {% endmacro name %}.
	case "block", "set", "macro", "call":
		if end.peek().kind == tokenName {
			end.next() // the name may be repeated
		}
	}
	end.wantEnd()
	p.open = p.open[:len(p.open)-1]
	p.noteSet(top.sets...) // what a block sets, the blocks around it set too
	if len(p.open) > 0 {
		outer := p.open[len(p.open)-1]
		outer.changes = append(outer.changes, top.changes...)
	}
	slices.Sort(top.sets)
	slices.Sort(top.changes)
	return Span{
		Start: top.start, End: end.piece.End, Sets: slices.Compact(top.sets), Changes: slices.Compact(top.changes),
	}
}

// parseEnclosed parses up to the end of the innermost tag.
func (p *tagParser) parseEnclosed() (Statements, Span) {
	// Over the tag itself; parseBody ends behind the closing one, and the loop of the caller steps again.
	p.i++
	body, end := p.parseBody("end" + p.open[len(p.open)-1].name)
	p.i--
	return body, p.closeTag(end)
}

// refuseTag is the error for what ends a block, or begins a part of one, elsewhere.
func (p *tagParser) refuseTag(t *tagReader) Statement {
	if len(p.open) > 0 {
		top := p.open[len(p.open)-1].name
		state := " is still open"
		// Such a tag is only refused inside of its own kind once its else has been there.
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

func (p *tagParser) parseIf(t *tagReader) Statement {
	n := &IfTag{}
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
		n.Branches = append(n.Branches, Branch{Cond: cond, Body: body})
		switch end.tag.text {
		case "endif":
			n.Span = p.closeTag(end)
			return n
		case "elif":
			cond = end.expression(true)
		default:
			// nil marks the else, behind which only endif may follow.
			cond = nil
		}
		t = end
	}
}

func (p *tagParser) parseFor(t *tagReader) Statement {
	n := &ForTag{Names: t.parseTargets()}
	if !t.takeName("in") {
		t.unexpected(t.peek(), "`in`")
	}
	// Before the tag is open: what is looped over does not belong to its inside.
	n.In = t.tuple(false)
	top := p.openTag(t)
	if t.takeName("if") {
		n.Cond = t.expression(true)
	}
	n.Recursive = t.takeName("recursive")
	p.endReading(t)
	outer := top.inFor
	top.inFor = true
	p.i++
	body, end := p.parseBody("else", "endfor")
	n.Body = body
	if end.tag.text == "else" {
		p.endReading(end)
		top.inFor = outer // a break in the else of a loop is one of the loop around it
		n.Empty, end = p.parseBody("endfor")
	}
	p.i--
	n.Span = p.closeTag(end)
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
		// A comma at the end is allowed, as in Python.
		if !t.takeSign(",") || t.peek().kind != tokenName {
			break
		}
	}
	if parens {
		t.wantSign(")")
	}
	return names
}

func (p *tagParser) parseSet(t *tagReader) Statement {
	// Two tokens tell a part of a namespace from a name.
	if next := t.after(); next.kind == tokenSign && (next.text == "." || next.text == "[") {
		return p.parseSetMember(t)
	}
	first := t.peek()
	names := t.parseTargets()
	// Known to the tags around it: if one of them stays open, the name is open as well.
	p.noteSet(names...)
	if t.takeSign("=") {
		n := &SetTag{Names: names, Value: t.tuple(true)}
		p.endReading(t)
		n.Changes = t.changed
		return n
	}
	if len(names) > 1 {
		t.unexpected(t.peek(), "`=`")
	}
	n := &CaptureTag{Name: names[0]}
	var chain Node = &Variable{At: At(first.Start), Name: names[0]}
	// The filters of a capture are read as a chain on its own name, which holds the text by then.
	for t.takeSign("|") {
		chain = t.filter(chain)
		n.Value = chain
	}
	p.openTag(t)
	p.noteSet(names...)
	p.endReading(t)
	n.Body, n.Span = p.parseEnclosed()
	return n
}

// parseSetMember parses {% set ns.x = value %}.
func (p *tagParser) parseSetMember(t *tagReader) Statement {
	target := t.postfix(t.primary())
	m, ok := target.(*Member)
	root, isVariable := FirstName(target)
	if !ok || !isVariable || !m.isConstant() {
		t.fail(t.tag, "`{% set %}` needs a name or a part of a namespace, `ns.x`", "")
	}
	// The namespace as a whole: its fields are not followed.
	p.noteSet(root.Name)
	t.wantSign("=")
	n := &DoTag{Of: &Assignment{At: At(target.Offset()), Target: m, Value: t.tuple(true)}}
	p.endReading(t)
	return n
}

func (p *tagParser) parseDo(t *tagReader) Statement {
	n := &DoTag{Of: t.expression(true)}
	p.endReading(t)
	n.Changes = t.changed
	return n
}

func (p *tagParser) parseWith(t *tagReader) Statement {
	n := &WithTag{}
	p.openTag(t)
	for t.peek().kind != tokenEnd {
		name := t.wantName("a name")
		t.wantSign("=")
		n.Names, n.Values = append(n.Names, name.text), append(n.Values, t.expression(true))
		if !t.takeSign(",") {
			break
		}
	}
	p.endReading(t)
	// Without a span: a with never stays open as a whole, only what is in it.
	n.Body, _ = p.parseEnclosed()
	return n
}

func (p *tagParser) parseMacro(t *tagReader) Statement {
	n := &MacroTag{Name: t.wantName("the name of the macro").text}
	p.noteSet(n.Name)
	p.openMacro(t, n)
	t.parseParameters(n)
	p.endReading(t)
	n.Body, _ = p.parseEnclosed()
	return n
}

// parseParameters parses (a, b=1, *rest, **named).
func (t *tagReader) parseParameters(n *MacroTag) {
	open := t.wantSign("(")
	for i := 0; !t.isSign(")"); i++ {
		if i > 0 {
			t.wantSign(",")
		}
		switch stars := t.peek(); {
		case t.takeSign("**"):
			n.Kwargs = t.parseGathering(stars, n.Kwargs)
		case t.takeSign("*"):
			n.Varargs = t.parseGathering(stars, n.Varargs)
		default:
			name := t.wantName("the name of a parameter")
			if n.Has(name.text) {
				t.fail(name, "the parameter `"+name.text+"` is there twice", "")
			}
			// Not nil: to read it is an error with a place, which only a node can have.
			p := Param{Name: name.text, Value: &Absent{At: At(name.Start), Name: name.text}}
			if t.takeSign("=") {
				p.Value = t.expression(true)
			}
			n.Params = append(n.Params, p)
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

func (p *tagParser) parseCall(t *tagReader) Statement {
	n := &CallTag{TagAt: t.tag.Start, Caller: &MacroTag{}}
	if t.isSign("(") {
		t.parseParameters(n.Caller)
	}
	of, ok := t.postfix(t.primary()).(*Call)
	if !ok {
		t.fail(t.tag, NotMacro, "")
	}
	n.Of = of
	// The macro runs the body, so a break in it cannot leave the loop around the tag.
	p.openMacro(t, n.Caller)
	p.endReading(t)
	n.Caller.Body, n.Span = p.parseEnclosed()
	return n
}

// NotMacro is what is wrong with a {% call %} of something else.
const NotMacro = "`{% call %}` needs the call of a macro of this text"

func (p *tagParser) parseFilter(t *tagReader) Statement {
	// The body comes in as a variable that no text can spell, so that the filters are ordinary ones.
	chain := t.filter(&Variable{At: At(t.tag.Start), Name: Captured})
	for t.takeSign("|") {
		chain = t.filter(chain)
	}
	n := &FilterTag{Chain: chain}
	p.openTag(t)
	p.endReading(t)
	n.Body, n.Span = p.parseEnclosed()
	return n
}

func (p *tagParser) parseBlock(t *tagReader) Statement {
	name := t.wantName("the name of the block")
	for _, b := range p.blocks {
		if b.Name == name.text {
			t.fail(name, "the block `"+name.text+"` is there twice", "`{{ self."+name.text+"() }}` gives it a second time")
		}
	}
	n := &BlockTag{At: At(t.piece.Start), Name: name.text}
	p.blocks = append(p.blocks, n)
	n.Scoped = t.takeName("scoped")
	n.Required = t.takeName("required")
	top := p.openTag(t)
	// It may be run from elsewhere, as a macro is.
	top.inFor = false
	p.endReading(t)
	n.Body, _ = p.parseEnclosed()
	return n
}

// parseExtends parses {% extends 'file' %}.
func (p *tagParser) parseExtends(t *tagReader) Statement {
	p.extends = true
	n := &ExtendsTag{At: At(t.piece.Start), Of: t.expression(true)}
	p.endReading(t)
	return n
}

func (p *tagParser) parseExit(t *tagReader) Statement {
	if len(p.open) == 0 || !p.open[len(p.open)-1].inFor {
		t.fail(t.tag, "`{% "+t.tag.text+" %}` outside of a loop", "")
	}
	p.endReading(t)
	return &ExitTag{Again: t.tag.text == "continue"}
}

// parseInclude parses {% include 'file' %}, {% include file ignore missing %}, {% include file without context %}.
func (p *tagParser) parseInclude(t *tagReader) Statement {
	n := &Including{At: At(t.piece.Start), Of: t.expression(true)}
	if t.takeName("ignore") {
		if !t.takeName("missing") {
			t.unexpected(t.peek(), "`missing`")
		}
		n.Absent = true
	}
	if t.isName("with") || t.isName("without") {
		n.Alone = t.next().text == "without"
		if !t.takeName("context") {
			t.unexpected(t.peek(), "`context`")
		}
	}
	p.endReading(t)
	// An include is an output: if it is open, it stays as it is written like one.
	return &Printing{Of: n, Start: t.piece.Start, End: t.piece.End}
}

// parseImport parses {% import 'file' as name %}.
func (p *tagParser) parseImport(t *tagReader) Statement {
	n := &ImportTag{File: &Importing{At: At(t.piece.Start), Of: t.expression(true)}}
	if !t.takeName("as") {
		t.unexpected(t.peek(), "`as`")
	}
	n.Name = t.wantName("a name").text
	n.File.Context = t.takeContext()
	p.noteSet(n.Name)
	p.endReading(t)
	return n
}

// parseFrom parses {% from 'file' import a, b as c %}.
func (p *tagParser) parseFrom(t *tagReader) Statement {
	n := &FromTag{File: &Importing{At: At(t.piece.Start), Of: t.expression(true)}}
	if !t.takeName("import") {
		t.unexpected(t.peek(), "`import`")
	}
	// `with` may be the name of a macro, so two tokens decide.
	for t.peek().kind == tokenName && !t.isContext() {
		name := t.next()
		as := name
		if t.takeName("as") {
			as = t.wantName("a name")
		}
		from := At(name.Start)
		n.Parts = append(n.Parts, &Member{
			At: from, Of: &Variable{At: from, Name: Imported}, Key: &Constant{At: from, Value: name.text}, KeyAt: name.Start, End: name.end,
		})
		n.Names = append(n.Names, as.text)
		if !t.takeSign(",") {
			break
		}
	}
	if len(n.Names) == 0 {
		t.unexpected(t.peek(), "a name")
	}
	n.File.Context = t.takeContext()
	p.noteSet(n.Names...)
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
