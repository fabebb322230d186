package engine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moon/engine/control"
	"moon/events"
	"moon/events/fact"
	"moon/internal/people"
	"moon/plan"
)

// atScreen is who gives a command of this process: its user. A flag is not a person: it was given before there was anything to look at,
// perhaps by another user.
func (s *hearing) atScreen(actor string) *people.Person {
	switch {
	case actor == "moon", strings.HasPrefix(actor, "--"):
		return nil
	case s.cfg.RelayedOnly:
		return &people.Person{}
	}
	return &people.Person{User: control.Self(), Host: s.owner.Host}
}

// asker is who sends a request.
func (s *hearing) asker(r control.Request) *people.Person {
	switch {
	case r.Claimed, s.cfg.RelayedOnly && !r.Relayed:
		return &people.Person{}
	case r.Relayed:
		return &people.Person{User: r.By}
	}
	return &people.Person{User: r.By, Host: s.owner.Host}
}

// confirmer is a person with what decides whether their confirmation counts: their groups of now, which the journal then has. Where no step
// demands people, it is not recorded.
func (s *hearing) confirmer(c events.Command, p *people.Person) *people.Person {
	if approve, ok := c.(events.Approve); !ok || !approve.Confirm || p == nil || !demandsPeople(s.state.Plan()) {
		return nil
	}
	inGroup := s.cfg.InGroup
	if inGroup == nil {
		inGroup = control.InGroup
	}
	var asked []string
	for i := range s.state.Plan().Steps {
		if d := s.state.Plan().Steps[i].Confirmers; d != nil && d.Group != "" && !slices.Contains(asked, d.Group) {
			asked = append(asked, d.Group)
			if inGroup(p.User, d.Group) {
				p.Groups = append(p.Groups, d.Group)
			}
		}
	}
	return p
}

// demandsPeople reports whether certain people have to confirm a step of the plan.
func demandsPeople(p *plan.Plan) bool {
	for i := range p.Steps { // by number: a step is large
		if s := &p.Steps[i]; s.Confirmers != nil && !s.Excluded {
			return true
		}
	}
	return false
}

// listenToOthers lets other users of this machine confirm what demands people. They cannot enter the run's directory, so the
// socket is outside of it; the kernel says who they are.
func (s *hearing) listenToOthers() {
	if s.others != nil || s.cfg.RelayedOnly || !demandsPeople(s.state.Plan()) {
		return
	}
	path := filepath.Join(os.TempDir(), "moon-"+s.id+".sock")
	server, err := control.ListenToOthers(path, s.relayOthers)
	if err != nil {
		s.add(fact.Warned{Step: -1, Message: "other users of this machine cannot confirm steps: " + err.Error()})
		return
	}
	s.others = server
	s.add(fact.Warned{Step: -1, Message: "other users of this machine confirm steps with: moon attach --send approve=STEP " + path})
}

// relayOthers takes nothing but confirmations, and these only of one step that demands people: all else is for the user of the run.
func (s *hearing) relayOthers(r control.Request) control.Answer {
	if r.Do != "approve" {
		return control.Answer{Unrecorded: true, Reason: "other users can only confirm steps that ask for certain people: approve=STEP"}
	}
	in := asking{Request: r, answer: make(chan control.Answer, 1), confirms: true}
	if !s.put(in) {
		return control.Answer{Reason: hasEnded, Unrecorded: true}
	}
	return <-in.answer
}

// refuseOther says why another user may not send these commands.
func (s *hearing) refuseOther(commands []events.Command) string {
	for _, c := range commands {
		approve, ok := c.(events.Approve)
		if !ok || len(commands) != 1 || approve.To != approve.From+1 || s.state.Plan().Steps[approve.From].Confirmers == nil {
			return "other users confirm one step at a time, and only one that asks for certain people"
		}
	}
	return ""
}

// warnOfPeople says whom a run without a review waits for, which a screen would show.
func (s *hearing) warnOfPeople(f fact.RunPaused) {
	p := s.state.Plan()
	if f.Reason != events.PauseConfirm || s.cfg.Options.Review || f.Step < 0 || p.Steps[f.Step].Confirmers == nil {
		return
	}
	s.listenToOthers() // the step may have come with another plan
	s.add(fact.Warned{Step: f.Step, Message: fmt.Sprintf("the run waits before %s: %s; confirm it with approve=%s, or moon attach --tui %s",
		p.StepRef(f.Step), cmp.Or(f.Message, p.Steps[f.Step].Confirm), p.Steps[f.Step].ID(), s.id)})
}
