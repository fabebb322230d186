package playbook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/playbook/asking"
	"moon/plan/playbook/node"
	"moon/plan/playbook/placed"
)

// What a file may cost. A playbook of 100,000 steps is about 10 MB and a million values; what is beyond these bounds is
// an accident or an attack, and is refused before it is parsed: yaml.v3 takes half a kilobyte for each value.
const (
	MaxFileSize  = 16 << 20        // bytes
	maxMarks     = 3 << 20         // characters that may begin a value or a line
	maxScalar    = 4 << 20         // bytes of one value, which the parser takes nine times
	maxLabels    = 1 << 16         // tags and anchors, each of which makes a value dear
	maxDepth     = placed.MaxDepth // levels of nesting
	maxExpansion = 1 << 20         // nodes that aliases add
)

// File is one file that was read: YAML, or what a plugin reads.
type File struct {
	Name string // as shown
	Path string // absolute
	Text []byte

	// Secret says that all of its values are, and that nothing of its text may be shown.
	Secret bool
	// Foreign has a plugin read the text, which is in a language of its own; nil: it is YAML.
	Foreign func() (answer []byte, err error)
	// Decrypt gives the text of a value that is encrypted (!vault); nil if there is nobody who could. Its error is what is wrong,
	// for people, and the way out.
	Decrypt func(text string) (plain, wrong, hint string)

	// LastCounts says that of keys that are given twice the last counts, with a warning, as in what Ansible reads; otherwise it is wrong.
	LastCounts bool

	split   sync.Once // a screen may ask from anywhere
	lines   []string
	refused bool // too large to be shown
}

// lineEnds turns everything that YAML takes for the end of a line into one.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// plainEnds are those of other languages.
var plainEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Lines are the lines of the file without their ends, counted as YAML or other languages do. Of a file that is refused for its
// size, and of one that is secret, there are none.
func (f *File) Lines() []string {
	if f.refused || f.Secret {
		return nil
	}
	ends := lineEnds
	if f.Foreign != nil {
		ends = plainEnds
	}
	f.split.Do(func() { f.lines = strings.Split(ends.Replace(string(f.Text)), "\n") })
	return f.lines
}

// readDocument parses the file's one document. On a mistake that leaves nothing to go on with, ok is false.
func readDocument(f *File, ds *diag.List) (v Value, ok bool) {
	return readEither(f, ds, func(Value) bool { return false })
}

// readOfPlays parses a document of plays, of their tasks, or of what their roles say of themselves.
func readOfPlays(f *File, ds *diag.List) (v Value, ok bool) {
	f.LastCounts = true
	return readDocument(f, ds)
}

// readEither parses the file's one document, of which only its content says whether it is one of plays.
func readEither(f *File, ds *diag.List, ofPlays func(Value) bool) (v Value, ok bool) {
	// The mark that some editors put in front is not part of the first key.
	text := bytes.TrimPrefix(f.Text, []byte("\xef\xbb\xbf"))
	f.Text = text
	fail := func(line, column int, message, hint string) (Value, bool) {
		ds.Add(diag.Diagnostic{Pos: diag.Pos{File: f.Name, Line: line, Column: column}, Message: message, Hint: hint})
		return Value{}, false
	}
	if len(text) > MaxFileSize {
		f.refused = true
		return fail(0, 0, fmt.Sprintf("the file is %d MB; moon reads at most %d MB", len(text)>>20, MaxFileSize>>20),
			"split it into files that are included")
	}
	// Before the parser: a file of some megabytes can make it use gigabytes. A plugin says no more than moon takes.
	if why := tooMuch(text); why != "" && f.Foreign == nil {
		f.refused = true
		return fail(0, 0, why, "split it into files that are included, or keep data outside of it")
	}
	if name := detectEncoding(f.Text); name != "" {
		f.refused = true // its lines would be no lines
		return fail(1, 1, "the file is "+name+", not UTF-8", "save the file as UTF-8")
	}
	// The parser would name a place in bytes, and not where people look.
	if at, line, column := findInvalid(text); at < len(text) {
		r, w := utf8.DecodeRune(text[at:])
		if w == 1 && r == utf8.RuneError {
			return fail(line, column, fmt.Sprintf("byte 0x%02x is not valid UTF-8", text[at]), "save the file as UTF-8")
		}
		return fail(line, column, fmt.Sprintf("the character %U is not allowed in YAML", r),
			"remove it, or write it with a backslash, as in \"\\x1b\"")
	}
	if f.Foreign != nil {
		return readForeign(f, ds)
	}
	doc, err := node.Parse(text)
	if second, ok := errors.AsType[*node.Second](err); ok {
		return fail(second.Line, second.Column, "a second YAML document starts here; a file holds one", "move it to a file of its own")
	}
	switch {
	case errors.Is(err, io.EOF):
		nothing := node.NewScalar(node.Null, "", 1, 1)
		nothing.Mark = 0
		return Value{nothing, f}, true
	case err != nil:
		return failYAML(f, err, ds)
	}
	root := doc.Root
	c := checker{f: f, ds: ds, tags: doc.Tags, anchors: doc.Anchors, anchored: map[*node.Node]int{}}
	if !c.checkBounds(root, 0) {
		// Keys are looked at only in a bounded document: aliases could make the walk endless.
		return Value{}, false
	}
	f.LastCounts = f.LastCounts || ofPlays(Value{root, f})
	c.checkKeys(root)
	return Value{root, f}, true
}

// tooMuch says what a file has too much of. It counts the characters that may begin a value or a line: an upper bound,
// but for a factor of two, of what the parser makes of the text. Text inside of quotes and blocks counts too, because
// telling it apart is the parser's work.
func tooMuch(text []byte) string {
	marks, labels, last := 0, 0, 0
	space := func(i int) bool {
		return i < 0 || i >= len(text) || text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t'
	}
	for i, c := range text {
		mark := false
		switch c {
		case '\n', '\r', ',', '[', '{':
			mark = true
		// A colon begins a value before a blank, and behind quotes also without one, as in JSON.
		case ':':
			mark = space(i+1) || text[i-min(i, 1)] == '"' || text[i-min(i, 1)] == '\''
		case '-', '?':
			mark = space(i+1) && space(i-1)
		// Tags and anchors cost the parser more than other marks.
		case '!', '&':
			if !space(i+1) && (space(i-1) || strings.IndexByte(",[{", text[i-1]) >= 0) {
				labels++
			}
		}
		if !mark {
			continue
		}
		marks++
		switch {
		case marks > maxMarks:
			return fmt.Sprintf("the file has more than %d million values and lines", maxMarks>>20)
		case i-last > maxScalar:
			return fmt.Sprintf("the file has a value of more than %d MB on one line", maxScalar>>20)
		case labels > maxLabels:
			return fmt.Sprintf("the file has more than %d tags and anchors", maxLabels)
		}
		last = i
	}
	if len(text)-last > maxScalar {
		return fmt.Sprintf("the file has a value of more than %d MB on one line", maxScalar>>20)
	}
	return ""
}

// detectEncoding names the encoding of a text that is UTF-16 or UTF-32; otherwise it is "". Without a byte order mark a text
// that begins with two characters of ASCII tells itself by its zeros.
func detectEncoding(text []byte) string {
	begins := func(mark string) bool { return bytes.HasPrefix(text, []byte(mark)) }
	zero := func(places ...int) bool {
		for i, c := range text[:4] {
			if (c == 0) != slices.Contains(places, i) {
				return false
			}
		}
		return true
	}
	switch {
	case begins("\xff\xfe\x00\x00"), begins("\x00\x00\xfe\xff"), len(text) >= 4 && (zero(1, 2, 3) || zero(0, 1, 2)):
		return "UTF-32"
	case begins("\xff\xfe"), begins("\xfe\xff"), len(text) >= 4 && (zero(1, 3) || zero(0, 2)):
		return "UTF-16"
	}
	return ""
}

// findInvalid finds the first place that is not UTF-8, or a character that YAML does not allow; at is the text's length if
// there is none.
func findInvalid(text []byte) (at, line, column int) {
	line, column = 1, 1
	for at < len(text) {
		if c := text[at]; c >= ' ' && c < 0x7f || c == '\t' {
			at, column = at+1, column+1
			continue
		}
		r, w := utf8.DecodeRune(text[at:])
		switch {
		case r == utf8.RuneError && w == 1, isForbidden(r):
			return at, line, column
		case r == '\r' && at+1 < len(text) && text[at+1] == '\n': // counted with its newline
		case strings.ContainsRune("\n\r\u0085\u2028\u2029", r):
			line, column = line+1, 1
		default:
			column++
		}
		at += w
	}
	return at, line, column
}

// isForbidden reports the control characters and the like that YAML has no place for.
func isForbidden(r rune) bool {
	switch {
	case r < ' ':
		return r != '\t' && r != '\n' && r != '\r'
	case r >= 0x7f && r < 0xa0:
		return r != 0x85
	}
	return r == 0xfffe || r == 0xffff
}

// lineText is a line of the file, or "".
func (f *File) lineText(n int) string {
	if n < 1 || n > len(f.Lines()) {
		return ""
	}
	return f.Lines()[n-1]
}

// checker looks at a whole document once: how large it is with its aliases expanded, and what its keys are.
type checker struct {
	f        *File
	ds       *diag.List
	nodes    int
	tags     map[*node.Node]string // types that YAML itself does not have
	anchors  map[*node.Node]string // names of what aliases may stand for
	anchored map[*node.Node]int    // sizes of these; -1 while being computed
}

// checkBounds refuses a document that is too deep, contains itself, or grows without measure when its aliases are
// expanded: yaml.v3 loads such a bomb into nodes without a word.
func (c *checker) checkBounds(n *node.Node, depth int) bool {
	size, ok := c.measureNode(n, depth)
	if !ok {
		return false
	}
	// A small document may expand by a large factor; a large one only by 8.
	if size > maxExpansion && size > 8*c.nodes {
		c.failAt(n, "its aliases expand to too many values", "write the values out, or use variables")
		return false
	}
	return true
}

func (c *checker) measureNode(n *node.Node, depth int) (int, bool) {
	if depth > maxDepth {
		return c.failAt(n, fmt.Sprintf("nested more than %d levels deep", maxDepth), "put a part of it into a file of its own")
	}
	if s, ok := c.anchored[n]; ok {
		// -1 marks an anchor whose value is being measured: meeting it again is a circle.
		if s < 0 {
			return c.failAt(n, fmt.Sprintf("anchor `%s` contains itself", c.anchors[n]), "write out what is meant")
		}
		return s, true
	}
	_, anchored := c.anchors[n]
	if anchored {
		c.anchored[n] = -1
	}
	c.nodes++
	size := 1
	if n.Kind == node.Alias {
		s, ok := c.measureNode(n.Target, depth+1)
		if !ok {
			return 0, false
		}
		size += s
	}
	for _, child := range n.Content {
		s, ok := c.measureNode(child, depth+1)
		if !ok {
			return 0, false
		}
		// Bounded, or nested aliases would overflow the number.
		size = min(size+s, 1<<30)
	}
	if anchored {
		c.anchored[n] = size
	}
	return size, true
}

func (c *checker) failAt(n *node.Node, message, hint string) (int, bool) {
	c.ds.Add(diag.Diagnostic{Pos: diag.Pos{File: c.f.Name, Line: n.Line(), Column: n.Column()}, Message: message, Hint: hint})
	return 0, false
}

// knownTags are the types that YAML itself has, as far as they mean something here.
var knownTags = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!map": true, "!!seq": true,
	"!!merge": true, "!!timestamp": true,
}

// checkTag refuses a type that somebody has written and that nobody would give the value.
func (c *checker) checkTag(n *node.Node) {
	if n.Tag != node.Other || !n.Has(node.Tagged) {
		return
	}
	tag := c.tags[n]
	if knownTags[tag] {
		return
	}
	switch tag {
	case "!vault":
		c.decryptValue(n)
		return
	case asking.Tag:
		asking.Rewrite(n, c.failAt)
		return
	case "!unsafe":
		// The tag itself is taken off, so that the value has the type that it is written as.
		n.Tag = map[node.Kind]node.Tag{node.Scalar: node.Str, node.List: node.Seq, node.Map: node.Mapping}[n.Kind]
		n.MarkUnsafe()
		return
	}
	hint := "remove it; the types are " + strings.Join(slices.Sorted(maps.Keys(knownTags)), ", ")
	c.ds.Add(diag.Diagnostic{
		Pos: diag.Pos{File: c.f.Name, Line: n.Line(), Column: n.Column()}, Width: utf8.RuneCountInString(tag),
		Message: "the type `" + tag + "` is not known", Hint: hint,
	})
}

// decryptValue puts the text of an encrypted value in its place.
func (c *checker) decryptValue(n *node.Node) {
	at, width := diag.Pos{File: c.f.Name, Line: n.Line(), Column: n.Column()}, len("!vault")
	switch {
	case n.Kind != node.Scalar:
		c.ds.Add(diag.Diagnostic{Pos: at, Width: width, Message: "`!vault` is for text", Hint: "encrypt the values one by one, or the whole file"})
		return
	// An alias leads to the same node, which is decrypted once.
	case c.f.Decrypt == nil || n.Has(node.Encrypted):
		return
	}
	plain, wrong, hint := c.f.Decrypt(n.Value)
	if wrong != "" {
		c.ds.Add(diag.Diagnostic{Pos: at, Width: width, Message: "this value cannot be read: " + wrong, Hint: hint})
	}
	n.Value, n.Tag = plain, node.Str
	n.Mark |= node.Encrypted
}

// checkKeys reports duplicate keys, keys that are not text, and types that are not known.
func (c *checker) checkKeys(n *node.Node) {
	c.checkTag(n)
	if n.Kind == node.Map {
		first := node.NewKeys(n)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind == node.Alias {
				key = key.Target
			}
			if key.Kind != node.Scalar {
				hint := "a key is plain text"
				if key.Kind == node.Map && key.Has(node.Flow) {
					// {{ x }} without quotes is a map whose key is a map.
					hint = "a value that starts with {{ must be quoted: \"{{ … }}\""
				}
				c.failAt(n.Content[i], "this is read as a map whose key is "+(Value{key, c.f}).Kind().String(), hint)
				continue
			}
			if key.Tag == node.Merge {
				c.mergeKeys(n.Content[i+1])
				continue
			}
			if at, ok := first.Find(key.Value, i); ok {
				if c.ds.Full() {
					return
				}
				if c.repeats(n, at, i, key.Value); c.f.LastCounts {
					i -= 2
				}
				continue
			}
		}
	}
	for _, child := range n.Content {
		c.checkKeys(child)
	}
}

// repeats reports a key of a map whose pairs begin at two places. Where the last counts, that takes the place of the first.
func (c *checker) repeats(n *node.Node, first, again int, name string) {
	key := n.Content[again]
	d := diag.Diagnostic{
		Pos:     diag.Pos{File: c.f.Name, Line: key.Line(), Column: key.Column()},
		Width:   utf8.RuneCountInString(name),
		Message: fmt.Sprintf("key `%s` is given twice; it is also on line %d", name, n.Content[first].Line()), Hint: "remove one of them",
	}
	if c.f.LastCounts {
		d.Severity, d.Message = diag.Warning, d.Message+". The last one counts"
		n.Content[first], n.Content[first+1] = key, n.Content[again+1]
		n.Content = slices.Delete(n.Content, again, again+2)
	}
	c.ds.Add(d)
}

func (c *checker) mergeKeys(n *node.Node) {
	values := []Value{{n, c.f}}
	if values[0].Kind() == List {
		values = values[0].Items()
	}
	for _, v := range values {
		if v.Kind() != Map {
			c.failAt(v.node, "`<<` merges maps; this is "+v.Kind().String(), "")
		}
	}
}
