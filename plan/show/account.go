package show

import (
	"path/filepath"
	"strconv"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/playbook"
	"moon/plan/source"
)

// What is known of a step beyond its fields: how its conditions stand and what may skip it, for those who explain it.

// conditionState is one of the conditions that must hold for a step, and what is known of it.
type conditionState struct {
	Text  string
	Pos   diag.Pos
	Known bool
	Holds bool
	After []int // the steps that decide it, as far as there are any
}

// conditionsOf are the conditions of a step, with those of what it is in.
func conditionsOf(p *plan.Plan, step int) []conditionState {
	k := p.Steps[step].Task
	r := rendererOf(p, step)
	states := make([]conditionState, len(k.When))
	for i, c := range k.When {
		// Cleared for each, so that After is about this condition alone.
		r.Missing = nil
		v := r.Decide([]plan.Condition{c})
		states[i] = conditionState{
			Text: strings.TrimSpace(c.Value.Text()), Pos: c.Value.Pos(), Known: v.Known, Holds: v.Holds,
			After: plan.StepsOf(r.Missing),
		}
	}
	return states
}

// guard is a key that may skip a step when it is reached: creates, removes, unless or onlyif.
type guard struct {
	Key  string
	Text string // rendered as far as known; a path is absolute if it is known
	Pos  diag.Pos
}

// guardsOf are the guards of a step.
func guardsOf(p *plan.Plan, step int) (guards []guard) {
	k := p.Steps[step].Task
	r := rendererOf(p, step)
	for _, g := range []struct {
		key   string
		value playbook.Value
		path  bool
	}{
		{"creates", k.Src.Creates, true},
		{"removes", k.Src.Removes, true},
		{"unless", k.Src.Unless, false},
		{"onlyif", k.Src.OnlyIf, false},
	} {
		if g.value.IsZero() {
			continue
		}
		r.Missing = nil
		text := r.Text(g.value)
		if g.path && len(r.Missing) == 0 && !filepath.IsAbs(text) {
			text = source.ResolvePath(text, k.Dir, p.Home)
		}
		guards = append(guards, guard{g.key, text, g.value.Pos()})
	}
	return guards
}

// rendererOf renders with what a step sees, and finds no mistakes.
func rendererOf(p *plan.Plan, step int) *plan.Renderer {
	return &plan.Renderer{Engine: p.Engine, Env: &plan.Env{Plan: p, Engine: p.Engine, Frame: p.Steps[step].Frame}, Lenient: true}
}

// patterns are the globs of what a step is made from (sources) and of what it makes (generates), as written.
func patterns(s *plan.Step) (sources, generates []string) {
	return writtenTexts(s.Task.Src.Sources), writtenTexts(s.Task.Src.Generates)
}

func writtenTexts(values []playbook.Value) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = strings.TrimSpace(v.Text())
	}
	return list
}

// ruling is what a step says of its own result under a key: always, never, or if a condition holds.
type ruling struct {
	Key   string // changed_when, failed_when or ignore_errors
	Fixed bool   // it is given as true or false
	Holds bool   // then, which
	When  string // otherwise, as written
}

// rulings are what a step says of its own result.
func rulings(s *plan.Step) (list []ruling) {
	for _, r := range []struct {
		key        string
		conditions []plan.Condition
	}{{"changed_when", s.Task.Changed}, {"failed_when", s.Task.Failed}, {"ignore_errors", s.Task.Ignore}} {
		switch c := r.conditions; {
		case len(c) == 0:
		case len(c) == 1 && c[0].Constant:
			list = append(list, ruling{Key: r.key, Fixed: true, Holds: c[0].Holds})
		default:
			list = append(list, ruling{Key: r.key, When: plan.WhenText(c)})
		}
	}
	return list
}

// policyOf is what decides whether and how often the step runs and what its result means, under the keys of the playbook
// and as written there.
func policyOf(s *plan.Step) map[string]string {
	k := s.Task
	m := map[string]string{}
	for _, of := range [...]struct{ key, text string }{
		{"sources", plan.Texts(k.Src.Sources)},
		{"generates", plan.Texts(k.Src.Generates)},
		{"creates", k.Src.Creates.Text()},
		{"removes", k.Src.Removes.Text()},
		{"unless", k.Src.Unless.Text()},
		{"onlyif", k.Src.OnlyIf.Text()},
		{"changed_when", plan.WhenText(k.Changed)},
		{"failed_when", plan.WhenText(k.Failed)},
		{"ignore_errors", plan.WhenText(k.Ignore)},
		{"until", s.Retry.Until},
	} {
		if of.text != "" { // what the playbook does not say is not a key here: most steps have none of them
			m[of.key] = of.text
		}
	}
	// What has its usual value is not listed, so that a policy is what somebody has written.
	if s.Retry.Max > 0 {
		m["retries"], m["delay"] = strconv.Itoa(s.Retry.Max), s.Retry.Delay.String()
	}
	if s.Timeout > 0 {
		m["timeout"] = s.Timeout.String()
	}
	if s.Queued > 0 {
		m["timeout_queued"] = s.Queued.String()
	}
	if s.Async != nil {
		m["async"], m["poll"] = s.Async.Limit.String(), s.Async.Poll.String()
	}
	if s.Throttle > 0 {
		m["throttle"] = strconv.Itoa(s.Throttle)
	}
	if s.CreateFirst {
		m["create_before"] = "true"
	}
	if s.CheckMode != nil {
		m["check_mode"] = strconv.FormatBool(*s.CheckMode)
	}
	if s.NoDiff {
		m["diff"] = "false"
	}
	if s.NoLog {
		m["no_log"] = "true"
	}
	if s.Terminal {
		m["interactive"] = "true"
	}
	return m
}

// renderedDigest is the digest of what a template of the step comes to; "" if it is none, or not known.
func renderedDigest(s *plan.Step) string {
	if s.Task.Renders == nil {
		return ""
	}
	return s.Task.Renders.Digest
}
