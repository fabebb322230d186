// Package yamldoc reads the YAML files in which a person sets something for every run: settings, keys, themes. What comes back
// is a tree that ends: without aliases, bounded in size and depth, so that whoever walks it needs no guard.
package yamldoc

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
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
	if err := yaml.Unmarshal(text, doc); err != nil {
		return nil, misread(err)
	}
	r := resolver{within: map[*yaml.Node]bool{}}
	for i, child := range doc.Content {
		if doc.Content[i], err = r.resolve(child, 0); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// misread takes the line out of an error of the library, which has it in its text only.
func misread(err error) *Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if after, ok := strings.CutPrefix(message, "line "); ok {
		if line, rest, ok := strings.Cut(after, ": "); ok {
			if n, err := strconv.Atoi(line); err == nil {
				return &Error{Line: n, Message: rest}
			}
		}
	}
	return &Error{Message: message}
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
