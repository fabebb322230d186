package doctor

import (
	"errors"
	"io/fs"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/walk"
)

// missingRule reports what is named and is not there, or cannot be read, in the words of planning.
type missingRule struct {
	walk.Unmoved
	site
}

// VisitMissing reports it. Where values decide whether it is needed, it is a warning: planning, which has them, knows better.
func (r *missingRule) VisitMissing(m walk.Missing, at walk.Place) {
	before := len(r.problems.Found)
	r.reportMissing(m, at)
	for i := before; i < len(r.problems.Found) && at.Maybe; i++ {
		r.problems.Found[i].Severity = diag.Warning
	}
}

func (r *missingRule) reportMissing(m walk.Missing, at walk.Place) {
	gone := errors.Is(m.Err, fs.ErrNotExist)
	switch {
	case m.Key == "role":
		r.library.ReportNoRole(at.Lookout, m.Value, m.Path, at.Chain)
	case gone && len(m.Tried) > 0:
		r.library.ReportNoVars(m.Value, m.Tried, at.Chain)
	case gone && (m.Key == "template" || m.Key == "copy"): // an earlier step may make it
		r.problems.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: m.Value.Pos(), Width: plan.Width(m.Value), Chain: at.Chain,
			Message: "no such file yet: " + plan.ShownPath(r.root, m.Path), Hint: r.library.SuggestFile(m.Path),
		})
	default:
		r.library.ReportUnread(m.Key, m.Value, m.Path, m.Err, at.Chain)
	}
}
