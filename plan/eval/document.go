package eval

import (
	"fmt"
	"strings"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Templated reports whether text has anything to render.
func Templated(text string) bool { return jinja.Templated(text) }

// DocumentIn is Document for a text that is written in a style of its own. A first line `#jinja2: …` of the text wins.
func (e *Engine) DocumentIn(text string, style jinja.Style) (*Template, error) {
	style, from, err := style.WithHeader(text)
	if err != nil {
		return nil, value.FromParser(err)
	}
	if from == 0 && style.Usual() && !jinja.Templated(text) {
		return &Template{engine: e, text: text, literal: true}, nil
	}
	key := text
	if style != (jinja.Style{}) || from > 0 {
		key = fmt.Sprintf("%+v\x00%s", style, text)
	}
	return compiledAs(&e.documents, key, text, func() (*Template, error) {
		return e.compileTemplate(text, jinja.Reading{Style: style, Document: true, From: from, Python: true})
	})
}

// trailing counts the newlines at the end of a text.
func trailing(s string) int { return len(s) - len(strings.TrimRight(s, "\n")) }

// likeSource gives a text as many newlines at its end as its template has, if it has fewer: Ansible keeps those.
func likeSource(text, source string) string {
	if more := trailing(source) - trailing(text); more > 0 {
		return text + strings.Repeat("\n", more)
	}
	return text
}

// literal reads a list, map, text or number as Python writes them.
func literal(text string) (any, bool) {
	tokens, _, err := jinja.LexExpression(text, 0, "", "", jinja.Lexing{})
	if err != nil {
		return nil, false
	}
	n, perr := jinja.ParseExpression(vocabulary{}, tokens)
	if perr != nil {
		return nil, false
	}
	return constantOf(n)
}

// listOrMap reads a text that begins as a list or a map does.
func listOrMap(text string) (any, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return nil, false
	}
	return literal(text)
}

func constantOf(n jinja.Node) (any, bool) {
	switch n := n.(type) {
	case *jinja.Constant:
		return n.Value, true
	case *jinja.Signed:
		v, ok := constantOf(n.Of)
		x, isNumber := value.NumberOf(v)
		if !ok || !isNumber {
			return nil, false
		}
		if n.Minus {
			negative, err := value.Calculate("-", 0, x)
			return negative, err == nil
		}
		return x, true
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
		m := value.NewDict(len(n.Keys))
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
