package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"moon/engine/graph"
	"moon/internal/app"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/show"
)

// Call is a call of moon with several playbooks.
type Call struct {
	*app.Invocation
	Members  []*Member
	Strict   bool
	WaitLock time.Duration // how long each may wait for another run of it
	// Plan plans one of them. What the others export first is unknown as long as they have not run (ahead). With waits, exports from
	// outside the call are waited for.
	Plan func(m *Member, ahead, waits bool) (*Outlook, error)
}

// Outlook is a playbook as far as it can be planned.
type Outlook struct {
	*Member
	Plan  *plan.Plan // nil: it has mistakes
	Graph *graph.Graph
	Diags diag.List // named from the working directory
	Open  diag.List // what is planned when the playbooks have run that it imports from
	Root  string
}

// bad reports whether it cannot run.
func (l *Outlook) bad(strict bool) bool { return l.Plan == nil || strict && len(l.Diags) > 0 }

// survey plans all playbooks before anything runs.
func (s *Call) survey(waits bool) (list []*Outlook, err error) {
	for _, m := range s.Members {
		l, err := s.Plan(m, true, waits)
		if err != nil {
			return nil, withPlaybook(m, err)
		}
		list = append(list, l)
	}
	return list, nil
}

// withPlaybook says which playbook an error is about.
func withPlaybook(m *Member, err error) error {
	if e, ok := errors.AsType[*app.Exit](err); ok && e.Message != "" {
		return app.NewExit(e.Code, m.Given+": "+e.Message)
	}
	return err
}

// complain prints what is wrong with the playbooks of which one cannot run. It returns an error then.
func (s *Call) complain(list []*Outlook) error {
	if !slices.ContainsFunc(list, func(l *Outlook) bool { return l.bad(s.Strict) }) {
		return nil
	}
	var all diag.List
	for _, l := range list {
		if l.bad(s.Strict) {
			all = append(all, l.Diags...)
		}
	}
	if err := all.Print(s.Err); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "\n%s; nothing was run\n", all.Summary())
	return app.NewExit(app.ExitUsage, "")
}

// PrintPlans prints the plans in the order in which the playbooks would run.
func (s *Call) PrintPlans() error {
	list, err := s.survey(false)
	if err == nil {
		err = s.complain(list)
	}
	if err != nil {
		return err
	}
	// A mistake in any of them has ended this above, so each has a plan.
	for i, l := range list {
		if len(l.Diags) > 0 {
			if err := l.Diags.Print(s.Err); err != nil {
				return err
			}
		}
		fmt.Fprintf(s.Out, "%d of %d  %s%s\n\n", i+1, len(list), l.Given, l.AfterText())
		if err := show.WriteTree(s.Out, l.Plan, s.Width()); err != nil {
			return err
		}
		if len(l.Open) > 0 {
			fmt.Fprintf(s.Out, "\nplanned when %s:\n", l.Awaits())
		}
		for _, d := range l.Open {
			what := strings.TrimSuffix(d.Message, " known only when the run starts")
			what = strings.TrimSuffix(strings.TrimSuffix(what, " is"), " are")
			fmt.Fprintf(s.Out, "  %s:%d  %s\n", termtext.CleanName(d.Pos.File), d.Pos.Line, termtext.CleanName(what))
		}
		if i < len(list)-1 {
			fmt.Fprintln(s.Out)
		}
	}
	return nil
}

// Check prints what is wrong with the playbooks.
func (s *Call) Check(asJSON bool) error {
	list, err := s.survey(false)
	if err != nil {
		return err
	}
	bad := slices.ContainsFunc(list, func(l *Outlook) bool { return l.bad(s.Strict) })
	if asJSON {
		docs := make([]map[string]any, len(list))
		for i, l := range list {
			docs[i] = map[string]any{"playbook": l.Given, "root": l.Root, "diagnostics": show.DiagnosticsJSON(l.Diags)}
		}
		enc := json.NewEncoder(s.Doc)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"playbooks": docs}); err != nil {
			return err
		}
	} else if err := printChecks(s.Out, list); err != nil {
		return err
	}
	if bad {
		return app.NewExit(app.ExitUsage, "")
	}
	return nil
}

func printChecks(w io.Writer, list []*Outlook) error {
	for _, l := range list {
		if err := l.Diags.Print(w); err != nil {
			return err
		}
		switch {
		case l.Plan == nil:
			fmt.Fprintf(w, "\n%s: %s\n", l.Given, l.Diags.Summary())
		case len(l.Diags) > 0:
			fmt.Fprintf(w, "\n%s: %s, %s\n", l.Given, plan.CountOf(len(l.Plan.Steps), "step"), l.Diags.Summary())
		case len(l.Open) > 0:
			fmt.Fprintf(w, "%s: no mistakes found; the rest is planned when %s\n", l.Given, l.Awaits())
		default:
			fmt.Fprintf(w, "%s: %s, no mistakes found\n", l.Given, plan.CountOf(len(l.Plan.Steps), "step"))
		}
	}
	return nil
}
