package plan

import (
	"math"
	"unicode/utf8"

	"moon/plan/diag"
	"moon/plan/playbook"
)

// clearErrors plans meta: clear_host_errors, once for all hosts: a step, because whether it is reached is known only in the run.
func (p *planner) clearErrors(cs []*scopeContext, t *playbook.Task) {
	d := p.decider(t)
	d.Action, d.Args = "meta", t.Args
	once := playbook.Written(t.Pos, "true")
	for _, c := range cs {
		c.inherit.runOnce = once
	}
	p.taskTelling(cs, d, func(_ *scopeContext, step int) { p.plan.Steps[step].Clears = true })
}

// hidden are the moments between which the facts of a host are not there.
type hidden struct{ from, until int }

// clearFacts plans meta: clear_facts: from here on the facts of all hosts of the play are undefined, until they are gathered again.
func (p *planner) clearFacts(cs []*scopeContext, t *playbook.Task) {
	c := cs[0]
	p.on(c)
	r := p.renderer(p.env(c, nil), c.chain)
	v := r.decide(c.when)
	switch {
	case r.failed || v.known && !v.holds:
		return
	case !v.known:
		p.tooLate(t.Args, c.chain, "leave it out, or write a condition that is known before the run", "whether the facts are cleared", r.missing)
		return
	}
	*p.names.produced.now++
	for _, name := range c.scene.hosts {
		if m := p.machines[name]; m != nil && !m.hides(math.MaxInt) {
			m.hidden = append(m.hidden, hidden{*p.names.produced.now, math.MaxInt})
		}
	}
}

// hides reports whether the facts of the host are cleared at a moment.
func (m *machine) hides(moment int) bool {
	for _, h := range m.hidden {
		if moment >= h.from && moment < h.until || moment == math.MaxInt && h.until == math.MaxInt {
			return true
		}
	}
	return false
}

// showAgain ends what a clear_facts has begun: the hosts are asked again.
func (p *planner) showAgain(cs []*scopeContext) {
	for _, c := range cs {
		m := c.on
		if !m.hides(math.MaxInt) {
			continue
		}
		*m.names.produced.now++
		m.hidden[len(m.hidden)-1].until = *m.names.produced.now
	}
}

// certain gives the steps of a task whose work is done when the plan is made, each with its context; it refuses those that may not run.
func (p *planner) certain(cs []*scopeContext, t *playbook.Task, what string, do func(c *scopeContext, s *Step)) {
	p.taskTelling(cs, t, func(c *scopeContext, step int) {
		s := &p.plan.Steps[step]
		if s.Excluded || s.Prediction == WillSkip {
			return
		}
		k := s.task
		if c.rescuing {
			p.errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), c.chain, "do it before the block, or after it", "%s is known only in the run: this is a rescue, which may not be needed", what)
			return
		}
		if s.Prediction == MaySkip {
			r := p.renderer(p.env(c, k.frame.step), c.chain)
			r.report = func(diag.Diagnostic) {}
			if r.decide(k.when); !r.failed {
				p.tooLate(playbook.Written(t.ActionPos, t.ActionKey), c.chain, "write a condition that is known before the run", what, r.missing)
			}
			return
		}
		do(c, s)
	})
}
