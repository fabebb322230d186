package doctor

import (
	"errors"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/dialect"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/walk"
)

// templatesRule compiles templates and conditions, and the files of templates: their syntax, and the filters and tests that they use.
type templatesRule struct {
	walk.Unmoved
	site
}

// VisitPlay lets what comes be read as plays have it.
func (r *templatesRule) VisitPlay(*playbook.Play, walk.Place) { r.engine.Dialect = dialect.Ansible }

// VisitTemplate compiles a template.
func (r *templatesRule) VisitTemplate(v playbook.Value, at walk.Place) {
	t, err := r.engine.Template(v.Text())
	r.reportMistake(v, err, at)
	if err == nil {
		r.warnIgnored(t, v.PosAt, at)
	}
}

// warnIgnored warns of options that lookups do not have: as with Ansible nothing comes of them, and a slip of the pen is one, too.
func (r *templatesRule) warnIgnored(t *eval.Template, posAt func(int) diag.Pos, at walk.Place) {
	for _, o := range t.Ignored() {
		r.problems.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: posAt(o.Offset), Width: utf8.RuneCountInString(o.Option), Chain: at.Chain,
			Message: "the lookup `" + o.Lookup + "` has no option `" + o.Option + "`, and ignores it", Hint: "remove it, or correct its name",
		})
	}
}

// VisitCondition compiles a condition.
func (r *templatesRule) VisitCondition(v playbook.Value, at walk.Place) {
	lang := eval.Jinja
	if at.Steps {
		lang = eval.Expr
	}
	_, err := r.engine.Condition(v.Text(), lang)
	r.reportMistake(v, err, at)
}

func (r *templatesRule) reportMistake(v playbook.Value, err error, at walk.Place) {
	e, ok := errors.AsType[*value.Error](err)
	if !ok {
		return
	}
	pos, width := v.Pos(), 0
	if e.Offset >= 0 && e.Offset+e.Width <= len(v.Text()) {
		pos, width = v.PosAt(e.Offset), utf8.RuneCountInString(v.Text()[e.Offset:e.Offset+e.Width])
	}
	d := diag.Diagnostic{Pos: pos, Width: width, Chain: at.Chain, Message: e.Message, Hint: e.Advice()}
	if at.Behind {
		d.Severity, d.Message = diag.Warning, e.Message+": this matters only if the conditions before it hold"
	}
	r.problems.Report(d)
}

// VisitDocument compiles the file of a template.
func (r *templatesRule) VisitDocument(f *playbook.File, at walk.Place) {
	if !utf8.Valid(f.Text) {
		return
	}
	text := string(f.Text)
	posAt := func(offset int) diag.Pos {
		line, column := plan.LineColumn(text, max(offset, 0))
		return diag.Pos{File: f.Name, Line: line, Column: column}
	}
	t, err := r.engine.Document(text)
	if err == nil {
		r.warnIgnored(t, posAt, at)
	}
	if e, ok := errors.AsType[*value.Error](err); ok {
		r.problems.Errorf(posAt(e.Offset), e.Width, at.Chain, e.Advice(), "%s", e.Message)
	}
}
