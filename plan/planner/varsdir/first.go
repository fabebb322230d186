package varsdir

import (
	"errors"
	"io/fs"

	"moon/plan"
	"moon/plan/planner/known"
	"moon/plan/planner/library"
	"moon/plan/playbook"
)

// Candidates are files of variables of which the first that exists counts, as an entry of vars_files names them.
type Candidates struct {
	Library  *library.Library
	Known    *known.Reader
	Find     func(name string) string // the path that a name stands for
	Renderer func() *plan.Renderer    // a new one for each name
	Chain    []string
}

// First is the file that counts; nil if there is none, which is reported.
func (q Candidates) First(list []playbook.Value) *playbook.File {
	if len(list) == 0 {
		return nil
	}
	var tried []string
	for _, v := range list {
		r := q.Renderer()
		name := r.Text(v)
		switch {
		case r.Failed:
			return nil
		case len(r.Missing) > 0:
			q.Known.ReportLate(v, q.Chain, "gather the facts before the plan is made (without --no-connect), or read the file with include_vars",
				"which file of variables to read", r.Missing)
			return nil
		}
		path := q.Find(name)
		f, err := q.Library.Read(path)
		if err == nil {
			return f
		}
		// Only a file that is not there makes way for the next candidate; one that cannot be read must not be passed over in silence.
		if !errors.Is(err, fs.ErrNotExist) {
			q.Library.ReportUnread("vars_files", v, path, err, q.Chain)
			return nil
		}
		tried = append(tried, path)
	}
	q.Library.ReportNoVars(list[0], tried, q.Chain)
	return nil
}
