package series

import (
	"errors"
	"fmt"
	"slices"

	"moon/internal/app"
)

// Run runs the playbooks, each after those it imports from. It plans those that import again when these have run.
func (s *Call) Run(req app.HeadlessRequest) error {
	list, err := s.survey(!req.Options.Check)
	if err == nil {
		err = s.complain(list)
	}
	if err != nil {
		return err
	}
	for _, l := range list {
		if err := req.Check(l.Plan); err != nil {
			return withPlaybook(l.Member, err)
		}
	}
	var ends []*Ended
	for i, m := range s.Members {
		e := &Ended{Member: m}
		if why := WhyNot(m, ends, req.Options.OnFailure); why != "" {
			e.Outcome, e.Why = NotRun, why
		} else {
			var first *Outlook // nothing has changed since it was planned
			if i == 0 {
				first = list[0]
			}
			s.run(e, first, req)
		}
		ends = append(ends, e)
	}
	to := s.Out
	if !slices.Equal(req.Outputs, []string{"text"}) && !slices.Equal(req.Outputs, []string{"auto"}) { // programs may read it
		to = s.Err
	}
	return Summarise(to, ends)
}

// run plans a playbook, if that was not just done, and runs it. If another run keeps it from beginning, both are done again after that.
func (s *Call) run(e *Ended, planned *Outlook, req app.HeadlessRequest) {
	req.Started = func(run string) { e.Run = run }
	err := app.WhenFree(s.Invocation, s.WaitLock, func() (err error) {
		l := planned
		planned = nil
		if l == nil {
			if l, err = s.Plan(e.Member, false, !req.Options.Check); err != nil {
				return err
			}
		}
		if len(l.Diags) > 0 {
			if err := l.Diags.Print(s.Err); err != nil {
				return err
			}
			fmt.Fprintln(s.Err)
		}
		if l.bad(s.Strict) {
			e.Why = l.Diags.Summary()
			return app.NewExit(app.ExitUsage, "")
		}
		return app.Headless(s.Invocation, l.Plan, l.Graph, req)
	})
	if e.Run == "" {
		err = withPlaybook(e.Member, err)
	}
	e.Code = s.report(err)
	switch {
	case err == nil:
		e.Outcome = Done
	case e.Code == app.ExitStopped || e.Code == app.ExitInterrupted:
		e.Outcome = Stopped
	case e.Run == "":
		e.Outcome = Refused
	default:
		e.Outcome = Failed
	}
}

// report prints an error, and gives the exit code that it means for moon. What a caller expects of ansible-playbook is decided at the end.
func (s *Call) report(err error) int {
	app.Report(s.Err, err)
	if e, ok := errors.AsType[*app.Exit](err); ok {
		return e.Code
	}
	if err != nil {
		return app.ExitDisk
	}
	return app.ExitDone
}
