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
	_, err := r.engine.Template(v.Text())
	r.reportMistake(v, err, at)
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
	d := diag.Diagnostic{Pos: pos, Width: width, Chain: at.Chain, Message: e.Message, Hint: e.Hint}
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
	_, err := r.engine.Document(text)
	if e, ok := errors.AsType[*value.Error](err); ok {
		line, column := plan.LineColumn(text, max(e.Offset, 0))
		r.problems.Errorf(diag.Pos{File: f.Name, Line: line, Column: column}, e.Width, at.Chain, e.Hint, "%s", e.Message)
	}
}
