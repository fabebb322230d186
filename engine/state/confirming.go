package state

import (
	"fmt"
	"maps"
	"slices"

	"moon/events"
	"moon/internal/people"
	"moon/plan"
)

// demands reports whether certain people have to confirm a step.
func (s *board) demands(step int) bool { return s.plan.Steps[step].Confirmers != nil }

// confirm counts a confirmation. A step that demands people has it when there are enough of them; who confirms it twice counts once.
func (s *flow) confirm(r events.Range, by *people.Person) {
	for step := r.From; step < r.To; step++ {
		d := s.plan.Steps[step].Confirmers
		if d == nil {
			s.choices[step] |= confirmed
			continue
		}
		have := s.confirmers[step]
		if by != nil && d.Refuse(*by, have) == "" && s.unconfirmed(step) {
			have = append(slices.Clip(have), by.User)
			s.confirmers[step] = have
		}
		if d.Missing(have) == "" {
			s.choices[step] |= confirmed
		}
		s.publishConfirmers(step)
	}
	// No one is there to continue a run without a review, so the last confirmation does.
	at := s.pause.Step
	if !s.opts.Review && s.paused && s.pause.Reason == events.PauseConfirm && r.Has(at) && s.demands(at) && !s.unconfirmed(at) {
		s.resume()
	}
}

func (s *board) publishConfirmers(step int) {
	have := s.confirmers[step]
	s.publish(step, events.StepConfirmed{By: orEmpty(have), Missing: s.plan.Steps[step].Confirmers.Missing(have)})
}

// republishConfirmers lists for views who has confirmed what is not confirmed yet, after the plan was replaced.
func (s *board) republishConfirmers() {
	for _, step := range slices.Sorted(maps.Keys(s.confirmers)) {
		s.publishConfirmers(step)
	}
}

// forgetConfirmers takes back what all of them have said.
func (s *board) forgetConfirmers(r events.Range) {
	maps.DeleteFunc(s.confirmers, func(step int, _ []string) bool { return r.Has(step) })
}

// spendConfirmation has a step that starts ask its people again before it runs again, but for the attempts that `retries` makes.
func (s *board) spendConfirmation(step int) {
	if s.demands(step) {
		s.choices[step] &^= confirmed
		delete(s.confirmers, step)
	}
}

// refuseConfirmer says why a person cannot confirm the one step that they name. Of several, those count that they may confirm.
func (s *board) refuseConfirmer(c events.Approve, by *people.Person) string {
	if !c.Confirm || by == nil || c.To != c.From+1 || !s.demands(c.From) {
		return ""
	}
	if !s.unconfirmed(c.From) {
		return "" // it has all that it needs
	}
	return s.plan.Steps[c.From].Confirmers.Refuse(*by, s.confirmers[c.From])
}

// refuseUnconfirmed says why steps that have run cannot run again: those whom they demand have confirmed them for once.
func (s *board) refuseUnconfirmed(steps []int) string {
	for _, step := range steps {
		if s.demands(step) && s.unconfirmed(step) {
			return fmt.Sprintf("%s has to be confirmed again before: it needs %s (approve=%s)", s.plan.StepRef(step),
				s.plan.Steps[step].Confirmers.Missing(s.confirmers[step]), events.StepID(step))
		}
	}
	return ""
}

// confirmersOf are those who have confirmed steps, by the numbers of the next plan. Another definition is another question.
func (s *board) confirmersOf(next *plan.Plan, of []int) map[int][]string {
	confirmers := map[int][]string{}
	for i, j := range of {
		if j >= 0 && len(s.confirmers[j]) > 0 && next.Steps[i].Digest == s.plan.Steps[j].Digest {
			confirmers[i] = s.confirmers[j]
		}
	}
	return confirmers
}

// askPeople takes from steps that the run has added what was decided about their place: it cannot confirm what demands people.
func askPeople(next *plan.Plan, choices []choice, of []int) {
	for i := range choices {
		if of[i] < 0 && next.Steps[i].Confirmers != nil {
			choices[i] &^= confirmed
		}
	}
}
