package playbook

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"moon/internal/diag"
)

// Written is a text that a playbook does not have but means, at the place that means it.
func Written(at diag.Pos, text string) Value {
	return Value{&yaml.Node{
		Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text, Line: at.Line,
		Column: at.Column,
	}, &File{Name: at.File}}
}

// WrittenMap is a map that a playbook means, of values that it has.
func WrittenMap(at diag.Pos, entries ...Entry) Value {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: at.Line, Column: at.Column}
	for _, e := range entries {
		n.Content = append(n.Content, Written(e.Pos, e.Key).node, e.Value.node)
	}
	return Value{n, &File{Name: at.File}}
}

// WrittenData is a value that a playbook does not have: data, in which nothing is a template.
func WrittenData(at diag.Pos, v any) (Value, error) {
	n := new(yaml.Node)
	if err := n.Encode(v); err != nil {
		return Value{}, fmt.Errorf("write %T down: %w", v, err)
	}
	f := &File{Name: at.File}
	(&checker{f: f}).markUnsafe(n)
	place(n, at)
	return Value{n, f}, nil
}

// place gives a value that was never written a place, for what is said about it.
func place(n *yaml.Node, at diag.Pos) {
	n.Line, n.Column = at.Line, at.Column
	for _, inner := range n.Content {
		place(inner, at)
	}
}
