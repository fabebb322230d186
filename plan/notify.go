package plan

import (
	"strings"

	"moon/plan/eval/value"
)

// NotifiedNames are the names in what an entry of `notify` comes to.
func NotifiedNames(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	names := []string{}
	for _, one := range list {
		if one != any(value.Omit) {
			names = append(names, strings.TrimSpace(value.Text(one)))
		}
	}
	return names
}

// NoHandler is the mistake that a name stands for no handler.
func NoHandler(name string) string { return "there is no handler " + Quoted(name) }
