package playbook

import (
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
