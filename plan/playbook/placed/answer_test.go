package placed_test

import (
	"strings"
	"testing"

	"moon/plan/playbook/node"

	"moon/plan/playbook/placed"
)

func TestPlacesOfAnAnswer(t *testing.T) {
	lines := []string{`a/b = "é"`, `list = [1, """`, `x"""]`}
	root, wrong := placed.ReadAnswer([]byte(`{"doc": {"a/b": "é", "list": [1, "x"], "none": {"k": null}}, "positions": {
		"": {"value": [1, 1]}, "/a~1b": {"key": [1, 1], "value": [1, 7]}, "/list": {"key": [2, 1], "value": [2, 8]}, "/list/1": {"value": [2, 12]}}}`), lines)
	if wrong != nil {
		t.Fatal(wrong)
	}
	list := root.Content[3]
	for _, c := range []struct {
		n            *node.Node
		line, column int
		mark         node.Mark
	}{
		{root.Content[0], 1, 1, node.Tagged},
		{root.Content[1], 1, 7, node.DoubleQuoted},
		{list, 2, 8, node.Flow},
		{list.Content[0], 2, 8, node.Tagged}, // that of the list
		{list.Content[1], 2, 14, node.DoubleQuoted},
		{root.Content[5].Content[1], 1, 1, node.Tagged}, // that of the document
	} {
		if c.n.Line() != c.line || c.n.Column() != c.column || c.n.Mark != c.mark {
			t.Errorf("%q is at %d:%d in style %d, not at %d:%d in %d", c.n.Value, c.n.Line(), c.n.Column(), c.n.Mark, c.line, c.column, c.mark)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`{}`: "neither a `doc` nor an `error`",
		`[]`: "cannot be read",
		`{"doc": [1], "positions": {"/0": {"value": [2, 1]}}}`:                 "the place [2 1] for `/0`",
		`{"doc": [1], "positions": {"/0": {"value": [1, 9]}}}`:                 "the place [1 9] for `/0`",
		`{"doc": [1], "positions": {"/0": {"value": [1]}}}`:                    "the place [1] for `/0`",
		`{"doc": ` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`: "nested more than 200 levels",
		`{"error": "no", "line": 99}`:                                          "no",
	} {
		root, wrong := placed.ReadAnswer([]byte(answer), []string{"abc"})
		if root != nil || wrong == nil || !strings.Contains(wrong.Text, want) || wrong.Line != 1 {
			t.Errorf("%.60s: %v", answer, wrong)
		}
	}
}
