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
