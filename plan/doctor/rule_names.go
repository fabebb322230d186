package doctor

import (
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/playbook"
	"moon/plan/walk"
)

// namesRule notes the names that cannot be had without running: what they stand for is not looked into.
type namesRule struct {
	walk.Unmoved
	site
}

// VisitUnnamed notes a name.
func (r *namesRule) VisitUnnamed(v playbook.Value, what string, _ walk.Place) {
	r.out.Unfollowed.Add(diag.Diagnostic{
		Severity: diag.Warning, Pos: v.Pos(), Width: plan.Width(v),
		Message: what + " is not looked into: its name is a template",
	})
}
