package engine

import (
	"fmt"
	"strconv"
	"strings"

	"moon/events"
	"moon/events/fact"
	"moon/internal/pattern"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/selector"
)

// probe evaluates a breakpoint where its step is about to start. One that cannot be decided stops: whoever set it wants
// to look.
func (s *attempts) probe(step int) {
	b, bound := s.state.Breakpoint(step), s.bind(step)
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
	if s.state.Plan().Steps[step].NoLog {
		f.Message = ""
	}
	s.add(f)
}

// breakClauses are what may follow the steps of a breakpoint, in this order.
var breakClauses = pattern.New(`^(?: if (.+?))?(?: after (\d+))?(?: log (.+))?$`)

// ParseBreak reads a breakpoint as people write it: STEP, then perhaps `if CONDITION`, `after N` and `log TEXT`. Where the
// steps are not in a row, each row counts for itself. why says what is wrong with it.
func ParseBreak(p *plan.Plan, text string) (list []events.Command, why string) {
	clauses := []string{"", "", "", ""}
	found := selector.Match(p, text)
	// A name of a step may hold blanks and words of the clauses, so the shortest part that is a step counts.
	for at := 0; len(found) == 0; {
		i := strings.IndexByte(text[at:], ' ')
		if i < 0 {
			message, hint := selector.NoMatch(p, text)
			return nil, message + "; " + hint
		}
		at += i
		if m := breakClauses.FindStringSubmatch(text[at:]); m != nil {
			clauses = m
			found = selector.Match(p, text[:at])
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
