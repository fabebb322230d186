package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/bind"
)

// breaks is a breakpoint that stops only where its condition holds, or only after a while, or that does not stop but
// says something. The steps of one command share it.
type breaks struct {
	events.Break
	hits int // how often its condition has held
}

func (s *State) setBreak(c events.Break) {
	var b *breaks
	if !c.Clear && (c.When != "" || c.After > 0 || c.Log != "") {
		b = &breaks{Break: c}
	}
	if c.Range().Has(s.pause.Step) {
		s.atBreak = false
	}
	s.choose(c.Range(), func(have choice) choice {
		have &^= passed | probed
		if c.Clear {
			return have &^ breakpoint
		}
		return have | breakpoint
	})
	for i := c.Range().From; i < c.Range().To; i++ {
		delete(s.breaks, i)
		if b != nil {
			s.breaks[i] = b
		}
	}
}

// refuseBreak says why a breakpoint cannot be set.
func (s *State) refuseBreak(c events.Break) string {
	if why := s.inside(c.Range()); why != "" {
		return why
	}
	if c.After < 0 {
		return "a breakpoint cannot pass fewer than 0 times"
	}
	if err := bind.CheckBreak(s.plan, c.When, c.Log); err != nil {
		return err.Error()
	}
	return ""
}

// undecidedBreak reports whether somebody must find out if the step's breakpoint stops here.
func (s *State) undecidedBreak(step int) bool {
	return s.breaks[step] != nil && s.choices[step]&(breakpoint|probed) == breakpoint && !s.stopped()
}

func (s *State) breakProbed(f fact.BreakProbed) {
	b := s.breaks[f.Step]
	if b == nil {
		return
	}
	stops := f.Holds
	if f.Holds {
		b.hits++
		stops = b.hits > b.After
	}
	s.choices[f.Step] |= probed
	switch {
	case !stops:
		s.choices[f.Step] |= passed
	case b.Log != "":
		s.choices[f.Step] |= passed
		s.publish(f.Step, events.PrintMessage{Message: f.Message})
	case f.Message != "":
		s.publish(f.Step, events.Warning{Message: f.Message})
	}
}

// probe evaluates a breakpoint where its step is about to start. One that cannot be decided stops: whoever set it wants
// to look.
func (s *Session) probe(step int) {
	b, bound := s.state.breaks[step], s.bind(step)
	f := fact.BreakProbed{Step: step, Holds: true}
	names := bound.Names(&plan.Call{})
	if b.When != "" {
		holds, err := names.Holds(b.When)
		f.Holds = holds || err != nil
		if err != nil {
			f.Message = fmt.Sprintf("the condition of this breakpoint cannot be decided: %s", err)
		}
	}
	if b.Log != "" && f.Holds && f.Message == "" {
		text, err := names.Render(b.Log, "")
		if err != nil {
			text = fmt.Sprintf("%s (%s)", b.Log, err)
		}
		f.Message = strings.TrimSuffix(text, "\n")
	}
	if s.state.plan.Steps[step].NoLog {
		f.Message = ""
	}
	s.add(f)
}

// breakClauses are what may follow the steps of a breakpoint, in this order.
var breakClauses = regexp.MustCompile(`^(?: if (.+?))?(?: after (\d+))?(?: log (.+))?$`)

// ParseBreak reads a breakpoint as people write it: STEP, then perhaps `if CONDITION`, `after N` and `log TEXT`. Where the
// steps are not in a row, each row counts for itself. why says what is wrong with it.
func ParseBreak(p *plan.Plan, text string) (list []events.Command, why string) {
	clauses := []string{"", "", "", ""}
	found := p.Match(text)
	for at := 0; len(found) == 0; {
		i := strings.IndexByte(text[at:], ' ')
		if i < 0 {
			message, hint := p.NoMatch(text)
			return nil, message + "; " + hint
		}
		at += i
		if m := breakClauses.FindStringSubmatch(text[at:]); m != nil {
			clauses = m
			found = p.Match(text[:at])
		}
		at++
	}
	b := events.Break{When: clauses[1], Log: clauses[3]}
	if clauses[2] != "" {
		n, err := strconv.Atoi(clauses[2])
		if err != nil {
			return nil, "after " + clauses[2] + " is too often"
		}
		b.After = n
	}
	if err := bind.CheckBreak(p, b.When, b.Log); err != nil {
		return nil, err.Error()
	}
	for _, r := range events.RangesOf(found) {
		b.Step, b.To = r.From, r.To
		list = append(list, b)
	}
	return list, ""
}
