package calls

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// Said is what an entry of `notify` says in the steps of a task.
type Said struct {
	Text  playbook.Value
	Names []string // that are known
	Late  bool     // it differs between steps, or is not known: each step says in the run what it names
	Open  bool     // what some step names is not known at all

	Unheard bool // no handler has one of the names: the run says so, if a step changes something
}

// Of finds out what an entry says. A step that has it only in the run notes what it waits for. ok is false if there is a mistake in it.
func Of(v playbook.Value, p *plan.Plan, steps []int, renderer func(*plan.Step) *plan.Renderer) (said Said, ok bool) {
	said.Text = v
	var first []string
	for _, i := range steps {
		s := &p.Steps[i]
		r := renderer(s)
		unfound := s.Place != nil && s.Loops() // it has no item, which the entry may name: that is for the rounds, once they are found
		if unfound && s.Place.Opened && plan.TemplatedIn(v) {
			continue
		}
		if unfound {
			r.Report = func(diag.Diagnostic) {}
		}
		names := plan.NotifiedNames(value.Plain(r.Value(v)))
		switch {
		case len(r.Missing) > 0, unfound && r.Failed:
			f := plan.Fields{R: r, Field: "notify"}
			f.At("")
			s.Unknowns = append(slices.Clip(s.Unknowns), f.Unknowns...)
			said.Late, said.Open = true, true
			continue
		case r.Failed, r.Undefined:
			return said, false
		case first == nil:
			first = names
		}
		said.Late = said.Late || !slices.Equal(first, names)
		for _, name := range names {
			if !slices.Contains(said.Names, name) {
				said.Names = append(said.Names, name)
			}
		}
		if !plan.TemplatedIn(v) {
			return said, true // it says the same in all of them
		}
	}
	return said, true
}

// Could are the names that an entry may come to: those that are known, and where not all are, those of handlers that fit what is written.
func (s *Said) Could(known []string) []string {
	names := slices.Clone(s.Names)
	for _, name := range known {
		if s.Open && !slices.Contains(names, name) && fits(s.Text.Text(), name) {
			names = append(names, name)
		}
	}
	return names
}

// MayFail is the warning that nothing goes by a name, where the run decides whether the task is reached: it will fail then.
func (s *Said) MayFail(name string, chain []string, hint string) diag.Diagnostic {
	s.Unheard = true
	return diag.Diagnostic{
		Severity: diag.Warning, Pos: s.Text.Pos(), Width: utf8.RuneCountInString(plan.FirstLine(s.Text.Text())), Chain: chain, Hint: hint,
		Message: plan.NoHandler(name) + ": the task will fail there if it changes something",
	}
}

// Note lets the steps of a task say in the run what they name.
func (s *Said) Note(p *plan.Plan, steps []int, known []string) {
	for _, i := range steps {
		k := p.Steps[i].Task
		k.Own().Notify = plan.Notify{Texts: append(k.Notify.Texts, s.Text), Steps: steps, Known: known}
	}
}

// Callers are the steps that notify a handler on a host.
type Callers struct {
	Steps   []int
	Namings []plan.Naming // which of them do so only by a name of the run
}

// Add adds the steps of a task, which name the handler in one of some ways.
func (c *Callers) Add(steps []int, said *Said, names []string) {
	already := len(c.Steps) > 0 && c.Steps[len(c.Steps)-1] == steps[len(steps)-1] // by another entry
	sure := already && !(&plan.Step{Named: c.Namings}).NamedOnly(steps[0])
	if said.Late && !sure {
		c.Namings = append(c.Namings, plan.Naming{Steps: steps, Names: names})
	}
	if !already {
		c.Steps = append(c.Steps, steps...)
	}
}

// NamesOf are the names that a handler goes by: its own, alone and with those of its role.
func NamesOf(own string, roles ...string) []string {
	if own == "" {
		return nil
	}
	names := []string{own}
	for _, role := range roles {
		names = append(names, role+" : "+own, role+": "+own)
	}
	return names
}

// Nearest says which handler may have been meant by a name, of those that there are.
func Nearest(name, whose string, known []string) string {
	if hint := suggest.DidYouMean(name, known); hint != "" {
		return hint
	}
	if len(known) == 0 {
		return whose + " has no handlers"
	}
	slices.Sort(known)
	return whose + " has " + strings.Join(slices.Compact(known), ", ")
}

// fits reports whether a name begins and ends as a text does outside of its templates.
func fits(text, name string) bool {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return text == name
	}
	before, after := strings.TrimLeft(text[:from], " \t\n"), strings.TrimRight(text[to+1:], " \t\n")
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// UseOf is what tells a use of a role, as it is written, from others.
func UseOf(name, dir string, t *playbook.Task) string {
	texts := []string{name, dir, value.Text(plan.Plain(t.RoleParams)), value.Text(plan.Plain(t.StepVars))}
	for _, list := range [][]playbook.Value{t.When, t.Tags} {
		for _, v := range list {
			texts = append(texts, value.Text(plan.Plain(v)))
		}
		texts = append(texts, "")
	}
	return strings.Join(texts, "\x00")
}
