package choice

import (
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/selector"
)

// Exclude says which steps of a plan a selection excludes: the flag that does, by path. What is always needed stays if the run starts
// later.
func Exclude(p *plan.Plan, of plan.Selection, always func(*plan.Step) bool) (leftOut map[string]string, wrong diag.List) {
	leftOut = map[string]string{}
	match := func(flag, text string) []int {
		found := selector.Match(p, text)
		if len(found) == 0 {
			message, hint := selector.NoMatch(p, text)
			wrong.Add(diag.Diagnostic{Pos: diag.Pos{File: flag + " " + text}, Message: message, Hint: hint})
		}
		return found
	}
	if of.StartAt != "" {
		if found := match("--start-at", of.StartAt); len(found) > 0 {
			for i := range found[0] {
				if !always(&p.Steps[i]) {
					leftOut[p.Steps[i].Path] = "--start-at"
				}
			}
		}
	}
	if len(of.Only) > 0 {
		only := map[int]bool{}
		for _, text := range of.Only {
			for _, i := range match("--only", text) {
				only[i] = true
			}
		}
		for i := range p.Steps {
			// The first flag that excludes a step is named as the reason.
			if path := p.Steps[i].Path; !only[i] && leftOut[path] == "" {
				leftOut[path] = "--only"
			}
		}
	}
	for _, text := range of.Skip {
		for _, i := range match("--skip", text) {
			if path := p.Steps[i].Path; leftOut[path] == "" {
				leftOut[path] = "--skip"
			}
		}
	}
	return leftOut, wrong
}
