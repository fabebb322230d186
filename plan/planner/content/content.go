package content

import (
	"errors"
	"io/fs"
	"slices"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/planner/conceal"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/source"
	"moon/secret"
)

// Reader looks at the files that steps copy and render.
type Reader struct {
	Plan      *plan.Plan
	Problems  *problems.Collector
	Library   *library.Library
	Disk      *source.Disk
	Secrets   *secret.Set
	Concealer *conceal.Concealer
}

// Look looks at the file a step copies or renders. A missing one is a warning: an earlier step may make it.
func (l *Reader) Look(s *plan.Step, k *plan.Task, r *plan.Renderer, src string, raw map[string]any) {
	v, _ := plan.ValueOf(k.Args, "src")
	if err := l.Disk.Exists(src, k.Action.Name == "template"); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			l.Problems.Blame("no such file yet", diag.Diagnostic{
				Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(v.Text()), Chain: s.Origin.Chain,
				Message: "no such file yet: " + l.Library.ShowPath(src), Hint: l.Library.SuggestFile(src),
			})
		}
		return
	}
	if k.Action.Name != "template" {
		return
	}
	f, err := l.Library.Read(src)
	if err != nil {
		l.Problems.Errorf(v.Pos(), 0, s.Origin.Chain, "", "template: %s", l.Library.DescribeError(err))
		return
	}
	t, err := plan.DocumentOf(l.Plan.Engine, string(f.Text), raw)
	if err == nil {
		r.Use(v, t.Refs())
		with := *r.Env.(*plan.Env)
		with.Extra = k.TemplateNames(r, src, raw, false)
		if vars, ok := raw["vars"].(map[string]any); ok {
			with.Extra = plan.Joined(with.Extra, value.Mixed(l.Secrets, plan.ForNames(plan.CopyOf(vars))).(map[string]any))
		}
		var result eval.Result
		result, err = t.Render(&with)
		r.Miss(result.Missing)
		if err != nil || len(result.Missing) > 0 {
			r.Leaves(t.Refs())
		}
		// Secrets may become known later in planning: then it is rendered again, for the digest is over a text in which they are masked.
		if err == nil && !s.NoLog {
			l.Concealer.NoteRendering(k, result.Value, func() (any, error) {
				again, err := t.Render(&with)
				return again.Value, err
			})
		}
	}
	var found *value.Error
	if !errors.As(err, &found) {
		return
	}
	for _, e := range found.All() {
		// What lacks the value of an excluded step is planned as skipped, and the template is not to blame.
		if steps := r.Lacks(e); len(steps) > 0 {
			r.Needs(e, steps)
			continue
		}
		if r.Excused(e) {
			continue
		}
		line, column := plan.LineColumn(string(f.Text), e.Offset)
		d := diag.Diagnostic{
			Pos: diag.Pos{File: f.Name, Line: line, Column: column}, Width: e.Width, Message: e.Message, Hint: e.Advice(),
			Chain: append(slices.Clip(s.Origin.Chain), s.Origin.String()),
		}
		if why, fails := r.FailsLater(e); fails {
			d.Severity, d.Message = diag.Warning, d.Message+why
		} else {
			r.Failed = true
		}
		l.Problems.Report(d)
	}
}
