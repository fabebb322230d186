package lint

import (
	"strings"

	"moon/internal/pattern"
	"moon/plan/playbook"
)

// pairs: arguments as key=value are texts in a text, in which quotes and spaces go wrong.
var pairs = Rule{ID: "no-free-form", About: "arguments of plays as key=value", Fixes: true, task: checkPairs}

// plainWord is a text that is one in YAML without quotes.
var plainWord = pattern.New(`^[A-Za-z/][A-Za-z0-9_./@-]*$`)

func checkPairs(r *report, t *playbook.Task) {
	if !r.plays || t.Kind != playbook.Action || t.Args.Kind() != playbook.Map {
		return
	}
	for _, e := range t.Keys {
		if e.Key != t.ActionKey || e.Value.Kind() != playbook.String {
			continue
		}
		var parts []string
		fixable := true
		for _, arg := range t.Args.Entries() {
			text := arg.Value.Text()
			// What is run is a text of its own, with arguments behind it.
			if arg.Key == "_raw_params" || arg.Key == "cmd" {
				return
			}
			if !plainWord.MatchString(text) || isWordOfYAML(text) {
				fixable = fixable && !strings.ContainsAny(text, "\"\\\n")
				text = `"` + text + `"`
			}
			parts = append(parts, arg.Key+": "+text)
		}
		raw := e.Value.Text()
		if len(parts) == 0 || !strings.Contains(raw, "=") {
			return
		}
		pos := e.Value.Pos()
		want := "{" + strings.Join(parts, ", ") + "}"
		var edit *Edit
		if fixable && !strings.Contains(raw, "\n") {
			edit = replacing(pos, raw, want)
		}
		r.add(pos, len(raw), edit, "write them as a map: "+want, "`"+t.ActionKey+"` has its arguments in one text")
	}
}

// isWordOfYAML reports whether a word without quotes is something else than text.
func isWordOfYAML(text string) bool {
	switch strings.ToLower(text) {
	case "yes", "no", "on", "off", "true", "false", "null", "y", "n":
		return true
	}
	return false
}
