package lint

import (
	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/plan/playbook"
)

// varNaming: other names cannot be written in a template, or look like something else.
var varNaming = Rule{ID: "var-naming", About: "names of variables that are not lower case, digits and _", task: checkVarNames, play: checkPlayVars}

var varName = pattern.New(`^[a-z_][a-z0-9_]*$`)

func checkVarNames(r *report, t *playbook.Task) {
	if t.Register != "" {
		checkVarName(r, t.Register, t.RegisterPos())
	}
	if isAction(t, "set_fact") && t.Args.Kind() == playbook.Map {
		for _, e := range t.Args.Entries() {
			if e.Key != "cacheable" {
				checkVarName(r, e.Key, e.Pos)
			}
		}
	}
	for _, e := range t.Keys {
		if e.Key == "vars" && e.Value.Kind() == playbook.Map {
			for _, v := range e.Value.Entries() {
				checkVarName(r, v.Key, v.Pos)
			}
		}
	}
}

func checkPlayVars(r *report, pl *playbook.Play) {
	if pl.Vars.Kind() == playbook.Map {
		for _, v := range pl.Vars.Entries() {
			checkVarName(r, v.Key, v.Pos)
		}
	}
}

func checkVarName(r *report, name string, pos diag.Pos) {
	if !varName.MatchString(name) {
		r.add(pos, len(name), nil, "lower case, digits and _", "`"+name+"` as the name of a variable")
	}
}
