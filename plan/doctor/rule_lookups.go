package doctor

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/internal/suggest"
	"moon/plan/playbook"
	"moon/plan/walk"
)

// lookupsRule finds lookups that moon does not have.
type lookupsRule struct {
	walk.Unmoved
	site
}

// lookupCall is the call of a lookup in a text.
var lookupCall = pattern.New(`\b(?:lookup|query|q)\(\s*['"]([A-Za-z_][\w.]*)['"]`)

// VisitTemplate looks at the lookups of a template.
func (r *lookupsRule) VisitTemplate(v playbook.Value, at walk.Place) {
	r.findLookups(v.Text(), v.PosAt, at)
}

// VisitCondition looks at the lookups of a condition.
func (r *lookupsRule) VisitCondition(v playbook.Value, at walk.Place) {
	r.findLookups(v.Text(), v.PosAt, at)
}

// VisitTask looks at the lookup that a task loops over.
func (r *lookupsRule) VisitTask(t *playbook.Task, at walk.Place) {
	if name, ok := strings.CutPrefix(t.Loop.Key, "with_"); ok && t.Loop.Kind == playbook.Lookup {
		r.checkLookup(t.Loop.Pos, name, t.Loop.Key, at)
	}
}

// VisitDocument looks at the lookups of the file of a template.
func (r *lookupsRule) VisitDocument(f *playbook.File, at walk.Place) {
	text := string(f.Text)
	if !utf8.ValidString(text) {
		return
	}
	r.findLookups(text, func(offset int) diag.Pos {
		line, column := diag.LineColumn(text, offset)
		return diag.Pos{File: f.Name, Line: line, Column: column}
	}, at)
}

func (r *lookupsRule) findLookups(text string, posAt func(int) diag.Pos, at walk.Place) {
	for _, m := range lookupCall.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		r.checkLookup(posAt(m[2]), name, name, at)
	}
}

// checkLookup reports a lookup that there is not, which stands somewhere as what is written.
func (r *lookupsRule) checkLookup(pos diag.Pos, name, written string, at walk.Place) {
	plain := playbook.BareLookup(name)
	if !slices.Contains(playbook.Lookups, plain) && r.engine.CheckLookup(name) != nil {
		r.problems.Errorf(pos, utf8.RuneCountInString(written), at.Chain, suggest.DidYouMean(plain, playbook.Lookups),
			"unknown lookup `%s`", name)
	}
}
