package value

import (
	"strings"

	"moon/plan/eval/jinja"
)

// literal reads a list, map, text or number as Python writes them.
func literal(text string) (any, bool) {
	tokens, _, err := jinja.LexExpression(text, 0, "", "", jinja.Lexing{})
	if err != nil {
		return nil, false
	}
	// Jinja's literals are close enough to Python's, and nothing is called: it knows no words.
	n, perr := jinja.ParseExpression(noWords{}, tokens)
	if perr != nil {
		return nil, false
	}
	return constantOf(n)
}

// ParseListOrMap reads a text that begins as a list or a map does.
func ParseListOrMap(text string) (any, bool) {
	text = strings.TrimSpace(text)
	// Ansible looks at the first character too; a number or a text stays what it is.
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return nil, false
	}
	return literal(text)
}

func constantOf(n jinja.Node) (any, bool) {
	switch n := n.(type) {
	case *jinja.Constant:
		return n.Value, true
	case *jinja.Variable: // of JSON; Ansible knows it, too
		return nil, n.Name == "null"
	case *jinja.Signed:
		v, ok := constantOf(n.Of)
		x, isNumber := NumberOf(v)
		if !ok || !isNumber {
			return nil, false
		}
		if n.Minus {
			negative, err := Calculate("-", 0, x)
			return negative, err == nil
		}
		return x, true
	// One item that is not constant makes the whole text no literal: then it stays text, as in Ansible.
	case *jinja.Listing:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			v, ok := constantOf(item)
			if !ok {
				return nil, false
			}
			list[i] = v
		}
		return list, true
	case *jinja.Dict:
		m := NewDict(len(n.Keys))
		for i := range n.Keys {
			key, ok := constantOf(n.Keys[i])
			v, ok2 := constantOf(n.Values[i])
			if !ok || !ok2 {
				return nil, false
			}
			m.SetAny(key, v)
		}
		return m, true
	}
	return nil, false
}

// noWords is the vocabulary of texts that call nothing.
type noWords struct{}

var errNoWord = &jinja.Error{Message: "a literal calls nothing"}

// FindFilter implements jinja.Vocabulary.
func (noWords) FindFilter(string) (jinja.Callable, *jinja.Error) { return nil, errNoWord }

// FindTest implements jinja.Vocabulary.
func (noWords) FindTest(string) (jinja.Callable, *jinja.Error) { return nil, errNoWord }

// FindFunction implements jinja.Vocabulary.
func (noWords) FindFunction(string) (jinja.Callable, bool) { return nil, false }
