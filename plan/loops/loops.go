package loops

import (
	"strings"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// Items are what a loop runs over; not ok if the value has no items. In plays only a list has.
func Items(l *playbook.Loop, v any) (items []any, ok bool) {
	if list, ok := v.([]any); ok || !l.Pairs {
		return list, ok
	}
	return value.Items(v)
}

// NoItems says that a loop is over something that has no items, and what to write.
func NoItems(l *playbook.Loop, v any) (message, hint string) {
	text := plan.FirstLine(l.Over.Text())
	hint = "write a list: `[" + text + "]`"
	switch v.(type) {
	case string:
		if strings.Contains(text, "{{") || text != value.Text(v) {
			hint = "split a text into a list: `.split(',')`, or `| split`"
		}
	case int, float64, value.Number:
		hint = "to count, write a range: `1..3`"
	case nil:
		hint = "give it a list, or `| default([], true)`"
	case map[string]any, *value.Dict:
		hint = "make a list of its pairs: `| dict2items`"
		if l.Over.Kind() == playbook.Map {
			hint = "write `with_dict:`, or a list"
		}
	}
	return "`" + l.Key + ":` needs " + l.Needs() + "; this is " + plan.Described(v), hint
}
