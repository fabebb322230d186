package node

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"gopkg.in/yaml.v3"
)

// Document is what a text says.
type Document struct {
	Root    *Node
	Tags    map[*Node]string // types that YAML itself does not have, as written
	Anchors map[*Node]string // values that aliases may stand for, and their names
}

// Second is the mistake of a text that holds more than one document: where the second begins.
type Second struct{ Line, Column int }

func (s *Second) Error() string {
	return fmt.Sprintf("line %d: a second document", s.Line)
}

// Parse reads the one document of a text. Of a text without any its error is io.EOF; that of what is not YAML is the parser's.
func Parse(text []byte) (Document, error) {
	if len(text) >= minDivided {
		if doc, ok := parseDivided(text); ok {
			return doc, nil
		}
	}
	return parseAt(text, 0)
}

// parseAt reads a text that begins below so many lines.
func parseAt(text []byte, lines int) (Document, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return Document{}, err
	}
	r := Reader{Lines: lines}
	root := r.Read(doc.Content[0])
	// Two documents are tried, because the second would be ignored without a word.
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return Document{}, &Second{second.Line, second.Column}
	case !errors.Is(err, io.EOF):
		return Document{}, err
	}
	return Document{Root: root, Tags: r.Tags, Anchors: r.Anchors}, nil
}

const (
	minDivided = 256 << 10 // bytes of a text that is worth dividing
	pieceSize  = 128 << 10 // bytes of a piece, at least
)

// piece is a part of a text that begins with an item of its list, and how many lines are above it.
type piece struct {
	text  []byte
	lines int
}

// parseDivided reads the long list at the end of a document in pieces, several at a time: so the processors share the work, and the
// parser's nodes of a piece, which are large, can be dropped before those of the next are made. It is sure of what it does, or does
// nothing: what does not end with a list, or refers to other places by aliases, or has a mistake in it, is read as a whole.
func parseDivided(text []byte) (Document, bool) {
	indent, pieces := divide(text)
	if len(pieces) < 2 {
		return Document{}, false
	}
	docs, errs := make([]Document, len(pieces)), make([]error, len(pieces))
	next := make(chan int, len(pieces))
	for i := range pieces {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(pieces)) {
		all.Go(func() {
			for i := range next {
				docs[i], errs[i] = parseAt(pieces[i].text, pieces[i].lines)
			}
		})
	}
	all.Wait()
	whole := docs[0]
	list := lastList(whole.Root)
	if list == nil || list.Column() != indent+1 {
		return Document{}, false // the list that the other pieces continue is another one
	}
	count := 0
	for i, doc := range docs {
		// A quote that begins in one piece and ends in another makes a mistake of both. So does an alias to another piece; within one,
		// how far it expands is a matter of the whole.
		if errs[i] != nil || len(doc.Anchors) > 0 {
			return Document{}, false
		}
		if i > 0 {
			if doc.Root.Kind != List || doc.Root.Column() != indent+1 || doc.Root.Has(Flow) {
				return Document{}, false
			}
			count += len(doc.Root.Content)
		}
	}
	list.Content = slices.Grow(list.Content, count)
	for _, doc := range docs[1:] {
		list.Content = append(list.Content, doc.Root.Content...)
		for n, tag := range doc.Tags {
			note(&whole.Tags, n, tag)
		}
	}
	return whole, true
}

// lastList is the list that the end of a document belongs to, if that is one: the document itself, or the value of its last key.
func lastList(root *Node) *Node {
	if root != nil && root.Kind == Map && !root.Has(Flow) && len(root.Content) > 0 {
		root = root.Content[len(root.Content)-1]
	}
	if root == nil || root.Kind != List || root.Has(Flow) {
		return nil
	}
	return root
}

// divide finds the items of the last list of a text by their indentation, and cuts in front of some. The first piece has all that is
// above the list as well.
func divide(text []byte) (indent int, pieces []piece) {
	for _, end := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(text, []byte(end)) {
			return 0, nil // which the parser counts as ends of lines
		}
	}
	begin, above := 0, 0
	indent = -1
	for at, line := 0, 0; at < len(text); line++ {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		content := bytes.TrimLeft(text[at:end], " ")
		column := end - at - len(content)
		content = bytes.TrimSuffix(bytes.TrimSuffix(content, []byte("\n")), []byte("\r"))
		switch {
		case bytes.IndexByte(content, '\r') >= 0:
			return 0, nil
		case len(content) == 0, content[0] == '#':
		case content[0] == '-' && (len(content) == 1 || content[1] == ' ') && (indent < 0 || column == indent):
			// An item of the list, or its first.
			if indent >= 0 && at-begin >= pieceSize {
				pieces = append(pieces, piece{text[begin:at], above})
				begin, above = at, line
			}
			indent = column
		case column == 0:
			indent, begin, above, pieces = -1, 0, 0, nil // a key of the document: its list may come
		case column < indent:
			return 0, nil
		}
		at = end
	}
	return indent, append(pieces, piece{text[begin:], above})
}
