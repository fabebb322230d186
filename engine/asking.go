package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"moon/engine/control"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/plan/selector"
)

// asking is a request of another process.
type asking struct {
	control.Request
	answer   chan control.Answer // of one
	confirms bool                // of another user of this machine, who may do nothing else
}

// hearing takes requests of other processes, and knows the runs next to this one.
type hearing struct {
	steering
	control *control.Server // nil if there is none
	others  *control.Server // for other users of this machine, while the plan has steps that certain people have to confirm
	asked   map[sentBy]control.Answer
	met     map[string]bool // other runs on the same target that were warned of
	answers []func()        // to be given when what they say is durable
}

// sentBy is a request as it is known when it is sent again: what one user calls it another may call something else.
type sentBy struct{ actor, id string }

const hasEnded = "the run has ended"

// listen lets other processes send commands. A run that cannot be reached is still a run: it says so, and goes on.
func (s *hearing) listen() {
	server, err := control.Listen(s.dir, s.relay)
	if err != nil {
		s.add(fact.Warned{Step: -1, Message: "moon attach cannot send commands to this run: " + err.Error()})
		return
	}
	s.control = server
	s.listenToOthers()
}

// relay hands a request to the loop and waits for what becomes of it.
func (s *hearing) relay(r control.Request) control.Answer {
	if r.Do == lookAround {
		return control.Answer{Accepted: s.put(lookedAround{s.lookAround()})}
	}
	// Room for the answer: the loop must not wait for a client that is gone.
	in := asking{Request: r, answer: make(chan control.Answer, 1)}
	if !s.put(in) {
		return control.Answer{Reason: hasEnded, Unrecorded: true}
	}
	return <-in.answer
}

// ask obeys a request, once. The answer is given when it is durable.
func (s *hearing) ask(in asking) {
	// A client that got no answer sends the same id again, and must not act twice.
	a, again := s.asked[sentBy{s.askedBy(in.Request), in.ID}]
	if !again {
		a = s.consider(in)
	}
	s.answers = append(s.answers, func() {
		if s.fatal != nil { // it may have acted, but nobody will know
			a = control.Answer{Reason: "the run cannot be recorded any more: " + s.fatal.Error()}
		}
		in.answer <- a
	})
}

// answer gives the answers that were waiting for the disk.
func (s *hearing) answer() {
	for _, give := range s.answers {
		give()
	}
	s.answers = nil
}

// heard remembers what became of a command, for whoever sends it again.
func (s *hearing) heard(o events.Order, reason string) {
	if o.ID != "" {
		s.asked[sentBy{o.Actor, o.ID}] = control.Answer{Accepted: reason == "", Reason: reason}
	}
}

// maxRanges is how many commands one request may become.
const maxRanges = 1000

// endUnasked ends a run in order, because no one is there to confirm a step. It could wait for a user who attaches, but a pipeline would
// wait until its own time is over, and say nothing.
func (s *hearing) endUnasked(step int) {
	p := s.state.Plan()
	at := &p.Steps[step]
	s.add(fact.Warned{Step: step, Message: fmt.Sprintf("the run has added %s, which asks to be confirmed: %s; "+
		"no one is here to ask, so nothing more is started; moon resume continues the run, in a terminal or with --approve %s",
		p.StepRef(step), at.Confirm, at.ID())})
	s.obey(events.Order{Actor: "moon", Command: events.Stop{How: events.StopDrain}})
}

func (s *hearing) consider(in asking) control.Answer {
	r := in.Request
	const maxID = 100
	if r.ID == "" || len(r.ID) > maxID {
		return control.Answer{Unrecorded: true, Reason: fmt.Sprintf("a command needs an id of at most %d bytes, by which it is known when it is sent again",
			maxID)}
	}
	if s.fatal != nil {
		return control.Answer{Reason: hasEnded, Unrecorded: true}
	}
	if r.Do == control.Order {
		return s.considerOrder(r)
	}
	commands, why := requests{s.state}.commands(r)
	if why == "" && r.Digest == "" {
		why = s.moves.Ambiguous(s.state.Plan(), r.Step)
	}
	if why == "" && in.confirms {
		why = s.refuseOther(commands)
	}
	if why != "" {
		return control.Answer{Reason: why}
	}
	order := func(c events.Command) events.Order {
		return events.Order{ID: r.ID, Actor: s.askedBy(r), By: s.confirmer(c, s.asker(r)), Command: c}
	}
	// What another user may not do is not recorded, or they could fill the journal.
	if in.confirms {
		if why := s.state.Refuse(order(commands[0])); why != "" {
			return control.Answer{Reason: why, Unrecorded: true}
		}
	}
	// All of them or none: whoever asked has asked for one thing.
	for _, c := range commands {
		// One refused command is enough to refuse the request, in the words of that one.
		if s.state.Refuse(order(c)) != "" {
			commands = []events.Command{c}
			break
		}
	}
	for _, c := range commands {
		o := order(c)
		s.heard(o, s.obey(o))
	}
	return s.asked[sentBy{s.askedBy(r), r.ID}]
}

// considerOrder obeys a command of a screen that another process shows, as it obeys those of its own.
func (s *hearing) considerOrder(r control.Request) control.Answer {
	var o events.Order
	if err := json.Unmarshal(r.Order, &o); err != nil {
		return control.Answer{Reason: "not a command: " + err.Error(), Unrecorded: true}
	}
	// Who sends it is known here, and not said by the sender.
	o.ID, o.Actor, o.By, o.Plan = r.ID, s.askedBy(r), s.confirmer(o.Command, s.asker(r)), r.Digest
	s.heard(o, s.obey(o))
	return s.asked[sentBy{s.askedBy(r), r.ID}]
}

// askedBy is who asks, for the journal: the user of this process, as no one else gets through to here, or the one they relay it for.
func (s *hearing) askedBy(r control.Request) string {
	return cmp.Or(r.By, s.owner.User) + " (attach)"
}

// requests says what another process asks for in the words of the run.
type requests struct{ *state.State }

// commands turns a request into the commands it means in this state, or says why there are none.
func (s requests) commands(r control.Request) ([]events.Command, string) {
	// The client has looked at a plan. What it names by number may be another step now.
	if r.Digest != "" && r.Digest != s.Plan().Digest {
		return nil, "the plan is another one; look again"
	}
	one := map[string]events.Command{
		"pause": events.Pause{}, "continue": events.Continue{}, "step": events.Advance{Verb: "step"},
		"stop": events.Stop{How: events.StopHow(r.How)},
	}
	if c, ok := one[r.Do]; ok {
		switch stop, is := c.(events.Stop); {
		case r.Step != "":
			return nil, r.Do + " takes no step"
		case is && stop.How == "":
			c = events.Stop{How: events.StopDrain}
		case is && !slices.Contains([]events.StopHow{events.StopDrain, events.StopInterrupt, events.StopNow}, stop.How):
			return nil, "stop is drain, interrupt or now, and not " + r.How
		}
		return []events.Command{c}, ""
	}
	if r.Do == "set" && r.How == "" {
		return []events.Command{events.Set{Variable: r.Step}}, ""
	}
	if r.Do == "break" && r.How == "" && r.Step != "" {
		return ParseBreak(s.Plan(), r.Step)
	}
	if r.Do == "rerun" || r.Do == "rerun-dependents" {
		return s.rerunning(r)
	}
	each, ok := map[string]func(events.Range) []events.Command{
		"approve": func(r events.Range) []events.Command {
			return []events.Command{events.Approve{Range: r, Confirm: true}}
		},
		"skip":    s.skipping,
		"restore": s.restoring,
		"mark":    func(r events.Range) []events.Command { return []events.Command{events.Mark{Range: r}} },
		"keep":    func(r events.Range) []events.Command { return []events.Command{events.Keep{Range: r}} },
		"clear": func(r events.Range) []events.Command {
			return []events.Command{events.Break{Step: r.From, To: r.To, Clear: true}}
		},
		"accept": func(r events.Range) []events.Command { return []events.Command{events.Accept{Range: r}} },
		"retry":  func(r events.Range) []events.Command { return []events.Command{events.Retry{Range: r}} },
		"answer": func(r events.Range) []events.Command { return answers(r, false) },
		"reject": func(r events.Range) []events.Command { return answers(r, true) },
	}[r.Do]
	if !ok {
		return nil, fmt.Sprintf("there is no command %q; there are %s", r.Do, Verbs)
	}
	ranges, why := s.ranges(r)
	if why != "" {
		return nil, why
	}
	// From the back: a step is skipped after those that use its values, or they would be skipped as its dependants.
	if r.Do == "skip" {
		slices.Reverse(ranges)
	}
	var list []events.Command
	for _, r := range ranges {
		list = append(list, each(r)...)
	}
	// The limit keeps one request from holding up the loop, which obeys and journals each command by itself.
	if len(list) > maxRanges {
		return nil, fmt.Sprintf("%s names %d places of the plan; name fewer at once", r.Step, len(list))
	}
	if len(list) == 0 {
		return nil, "nothing here can be skipped any more"
	}
	return list, ""
}

// Verbs are what a request may ask for.
const Verbs = "pause, continue, step, stop, approve, skip, restore, mark, break, clear, retry, accept, rerun, rerun-dependents, keep, set, answer and reject"

// ranges are the steps that a request names, in runs.
func (s requests) ranges(r control.Request) ([]events.Range, string) {
	switch {
	case r.How != "":
		return nil, r.Do + " has no ways"
	case r.Step == "":
		return nil, r.Do + " needs a step: an id, a path, a name, file:line, or all"
	}
	found := selector.Match(s.Plan(), r.Step)
	if len(found) == 0 && r.Step == "all" {
		return []events.Range{{From: 0, To: len(s.Plan().Steps)}}, ""
	}
	if len(found) == 0 {
		message, hint := selector.NoMatch(s.Plan(), r.Step)
		return nil, message + "; " + hint
	}
	return events.RangesOf(found), ""
}

// rerunning is one command for all steps that are named: they run one after the other.
func (s requests) rerunning(r control.Request) ([]events.Command, string) {
	ranges, why := s.ranges(r)
	if why != "" {
		return nil, why
	}
	c := events.Rerun{Range: events.Range{From: ranges[0].From, To: ranges[len(ranges)-1].To}, With: r.Do == "rerun-dependents"}
	if len(ranges) > 1 {
		for _, one := range ranges {
			for i := one.From; i < one.To; i++ {
				c.Steps = append(c.Steps, i)
			}
		}
	}
	return []events.Command{c}, ""
}

// skipping continues without failed steps that wait for a decision, and excludes what has not begun: what was planned with the value of a
// step before the step itself.
func (s requests) skipping(r events.Range) []events.Command {
	var list []events.Command
	for i := r.From; i < r.To; i++ {
		if s.AwaitsDecision(i) {
			list = append(list, events.Skip{Step: i})
		}
	}
	for _, r := range slices.Backward(r.Where(s.NotBegun)) {
		list = append(list, events.Exclude{Range: r})
	}
	return list
}

// restoring is what restores the excluded steps of a range whose turn has not come, or the range, to be refused.
func (s requests) restoring(r events.Range) []events.Command {
	ranges := r.Where(s.Restorable)
	if ranges == nil {
		// With nothing to restore the range itself is sent, so that the state words the refusal.
		ranges = append(ranges, r)
	}
	var list []events.Command
	for _, r := range ranges {
		list = append(list, events.Include{Range: r})
	}
	return list
}

// answers are for the gates in a range.
func answers(r events.Range, reject bool) []events.Command {
	var list []events.Command
	for i := r.From; i < r.To; i++ {
		list = append(list, events.Answer{Step: i, Reject: reject})
	}
	return list
}

func (asking) input() {}
