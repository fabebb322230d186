package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"moon/internal/pattern"
)

// What such a file may have.
const (
	maxBytes = 1 << 20
	maxDepth = 50
	maxNodes = 100_000 // with the aliases written out
)

// Error is what is wrong with a file as a whole. Line and Column are 0 if they are not known.
type Error struct {
	Line, Column int
	Message      string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Parse reads a file. Doc is the document node, whose first child is the value; it has no child if the file is empty.
func Parse(text []byte) (doc *yaml.Node, err *Error) {
	if len(text) > maxBytes {
		return nil, &Error{Message: fmt.Sprintf("the file is larger than %d MiB", maxBytes>>20)}
	}
	doc = &yaml.Node{}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, misread(text, err)
	}
	var second yaml.Node
	switch err := documents.Decode(&second); {
	case err == nil:
		return nil, &Error{Line: second.Line, Column: second.Column, Message: "the file has a second document, which would not be read"}
	case !errors.Is(err, io.EOF):
		return nil, misread(text, err)
	}
	r := resolver{within: map[*yaml.Node]bool{}}
	for i, child := range doc.Content {
		if doc.Content[i], err = r.resolve(child, 0); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// misread takes the line out of an error of the library, which has it in its text only: not for the first line, not for characters and
// not for anchors, and one beyond the end for what is not closed.
func misread(text []byte, err error) *Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		line, column := find(text, regexp.MustCompile(`(^|[\s\[{,:-])\*`+regexp.QuoteMeta(name)), '*')
		return &Error{Line: line, Column: column, Message: "there is no anchor `" + name + "`; text that begins with * needs quotes"}
	}
	if strings.Contains(message, "control characters") || strings.Contains(message, "UTF-8") {
		line, column := find(text, unprintable.Regexp(), 0)
		return &Error{Line: line, Column: column, Message: message}
	}
	line := 1
	if after, ok := strings.CutPrefix(message, "line "); ok {
		if number, rest, ok := strings.Cut(after, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, message = n, rest
			}
		}
	}
	return &Error{Line: min(line, 1+bytes.Count(bytes.TrimRight(text, "\n"), []byte("\n"))), Message: message}
}

// unprintable are the characters that no YAML file may have.
var unprintable = pattern.New(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{fffd}]`)

// find gives the place of the first match outside of comments, or of a byte in it; 0 if there is none.
func find(text []byte, what *regexp.Regexp, from byte) (line, column int) {
	for i, one := range strings.Split(string(text), "\n") {
		at := what.FindStringIndex(strings.ToValidUTF8(one, "\ufffd"))
		if at == nil || strings.HasPrefix(strings.TrimSpace(one), "#") {
			continue
		}
		if from != 0 {
			at[0] += strings.IndexByte(one[at[0]:], from)
		}
		return i + 1, 1 + utf8.RuneCountInString(one[:at[0]])
	}
	return 0, 0
}

// resolver puts what aliases stand for in their place.
type resolver struct {
	nodes  int
	within map[*yaml.Node]bool // the nodes around that have an anchor
}

func (r *resolver) resolve(n *yaml.Node, depth int) (*yaml.Node, *Error) {
	fail := func(format string, args ...any) (*yaml.Node, *Error) {
		return nil, &Error{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)}
	}
	if n.Kind == yaml.AliasNode {
		if r.within[n.Alias] {
			return fail("the anchor `%s` contains itself", n.Value)
		}
		return r.resolve(n.Alias, depth)
	}
	r.nodes++
	switch {
	case depth > maxDepth:
		return fail("nested more than %d levels deep", maxDepth)
	case r.nodes > maxNodes:
		return fail("the file has more than %d values, with its aliases written out", maxNodes)
	}
	if n.Anchor != "" {
		r.within[n] = true
		defer delete(r.within, n)
	}
	for i, child := range n.Content {
		resolved, err := r.resolve(child, depth+1)
		if err != nil {
			return nil, err
		}
		n.Content[i] = resolved
	}
	return n, nil
}
