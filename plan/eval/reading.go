package eval

import (
	"slices"
	"strings"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Up to ansible-core 2.18 what a template of a play gives is read once more: a text that is written like a list or a map is one, and so are
// True and False. People made lists and maps from text before there was more to templates. Text of the filters below is meant to be text,
// and stays so wherever it is handed. moon has no mark for such a text, so that a name alone is not read, but the template it stands for.
// What a command has printed cannot come from a filter.

// writers are the filters whose text stays text.
var writers = []string{"string", "to_json", "to_nice_json", "to_yaml", "to_nice_yaml", "ppretty", "json"}

// printed is the field of a result that is read although it is a name alone.
const printed = "stdout"

// truths are texts that a template writes for true and false.
var truths = map[string]any{"True": true, "False": false}

// mayRead reports whether the text that an expression gives, which is a whole template, may be read.
func mayRead(n jinja.Node) bool {
	switch n := n.(type) {
	case *jinja.Filtering:
		return !slices.Contains(writers, strings.TrimPrefix(n.Name, "ansible.builtin."))
	case *jinja.Choice:
		return mayRead(n.Then) && (n.Other == nil || mayRead(n.Other))
	case *jinja.Variable:
		return false
	case *jinja.Member:
		key, isConstant := n.Key.(*jinja.Constant)
		return isConstant && key.Value == printed
	}
	return true
}

// readText reads a text that stands for something else. White space before it, which tags leave, makes it text if there are none.
func readText(text string, tags bool) (any, bool) {
	if !tags && !mayStand(text) {
		return nil, false
	}
	if truth, ok := truths[text]; ok {
		return truth, true
	}
	return value.ParseListOrMap(text)
}

// mayStand reports whether a text can stand for something else.
func mayStand(text string) bool {
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") || truths[text] != nil
}
