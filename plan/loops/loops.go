package loops

import (
	"strings"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// NoItems says that a loop is over something that has no items, and what to write.
func NoItems(l playbook.Loop, v any) (message, hint string) {
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
	}
	return "`" + l.Key + ":` needs a list or a map; this is " + plan.Described(v), hint
}
