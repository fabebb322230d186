package playbook

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"moon/internal/diag"
	"moon/plan/playbook/node"
)

// Written is a text that a playbook does not have but means, at the place that means it.
func Written(at diag.Pos, text string) Value {
	n := node.NewScalar(node.Str, text, at.Line, at.Column)
	n.Mark = node.DoubleQuoted
	return Value{n, &File{Name: at.File}}
}

// WrittenMap is a map that a playbook means, of values that it has.
func WrittenMap(at diag.Pos, entries ...Entry) Value {
	n := node.NewMap(at.Line, at.Column)
	for _, e := range entries {
		n.Content = append(n.Content, Written(e.Pos, e.Key).node, e.Value.node)
	}
	return Value{n, &File{Name: at.File}}
}

// WrittenData is a value that a playbook does not have: data, in which nothing is a template.
func WrittenData(at diag.Pos, v any) (Value, error) {
	made := new(yaml.Node)
	if err := made.Encode(v); err != nil {
		return Value{}, fmt.Errorf("write %T down: %w", v, err)
	}
	n := new(node.Reader).Read(made)
	n.MarkUnsafe()
	n.PlaceAll(at.Line, at.Column)
	return Value{n, &File{Name: at.File}}, nil
}
