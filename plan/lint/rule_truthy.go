package lint

import (
	"slices"

	"moon/plan/playbook"
)

// truthy: yes and on are booleans for some readers of YAML, and texts for others.
var truthy = Rule{ID: "truthy", About: "yes, no, on and off for true and false", Fixes: true, task: checkTruthy}

var truthWords = map[string]string{
	"yes": "true", "Yes": "true", "YES": "true", "on": "true", "On": "true", "ON": "true", "True": "true", "TRUE": "true",
	"no": "false", "No": "false", "NO": "false", "off": "false", "Off": "false", "OFF": "false", "False": "false", "FALSE": "false",
}

func checkTruthy(r *report, t *playbook.Task) {
	for _, e := range t.Keys {
		// Tasks inside are visited by themselves.
		if !slices.Contains([]string{"block", "rescue", "always"}, e.Key) {
			checkTruths(r, e.Value)
		}
	}
}

func checkTruths(r *report, v playbook.Value) {
	switch v.Kind() {
	case playbook.Map:
		for _, e := range v.Entries() {
			checkTruths(r, e.Value)
		}
	case playbook.List:
		for _, item := range v.Items() {
			checkTruths(r, item)
		}
	case playbook.Bool:
		if want := truthWords[v.Text()]; want != "" {
			r.add(v.Pos(), len(v.Text()), replacing(v.Pos(), v.Text(), want), "write "+want, "`"+v.Text()+"` for "+want)
		}
	case playbook.Null, playbook.Int, playbook.Float, playbook.String:
	}
}
