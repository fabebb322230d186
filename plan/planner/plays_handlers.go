package planner

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// takeHandlers adds the handlers of a role. Where it has been used before, they get the parameters of this use.
func (play *playPlanner) takeHandlers(dir string, t *playbook.Task, read func() []*handler) {
	known := false
	for _, h := range play.handlers {
		if h.role != nil && h.role.Dir == dir {
			h.by, known = t, true
		}
	}
	if !known {
		play.handlers = append(play.handlers, read()...)
	}
}

// called reports whether a name is this handler's own.
func (h *handler) called(name string) bool {
	if h.name == "" {
		return false
	}
	if name == h.name {
		return true
	}
	return h.role != nil && (name == h.role.Name+" : "+h.name || name == h.role.Name+": "+h.name)
}

// wanted are the handlers that a name stands for: the one of that name, and all that listen to it. Of several with one name the
// first of the play counts, or else that of the role that came last.
func (play *playPlanner) wanted(name string) []*handler {
	var list []*handler
	var own *handler
	for _, h := range play.handlers {
		if !h.called(name) {
			continue
		}
		if own == nil || h.role != own.role {
			own = h
		}
	}
	if own != nil {
		list = append(list, own)
	}
	for _, h := range play.handlers {
		if h != own && slices.Contains(h.topics, name) {
			list = append(list, h)
		}
	}
	return list
}

// notify takes down which handlers a task may notify on a host.
func (p *playsState) notify(c *taskContext) {
	if len(c.notify) == 0 || c.play == nil {
		return
	}
	var steps []int
	for i := c.group; i < len(p.plan.Steps); i++ {
		if s := &p.plan.Steps[i]; !s.Excluded && s.Prediction != plan.WillSkip {
			steps = append(steps, i)
		}
	}
	if len(steps) == 0 {
		return
	}
	for _, v := range c.notify {
		r := p.Renderer(p.env(c, nil), c.chain)
		got := value.Plain(r.Value(v))
		if r.Failed {
			continue
		}
		if len(r.Missing) > 0 {
			p.tooLate(v, c.chain, "name the handlers", "which handler to notify", r.Missing)
			continue
		}
		names, ok := got.([]any)
		if !ok {
			names = []any{got}
		}
		for _, one := range names {
			name := strings.TrimSpace(value.Text(one))
			handlers := c.play.wanted(name)
			if len(handlers) == 0 {
				p.Errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), c.chain, c.play.nearest(name), "there is no handler %s",
					plan.Quoted(name))
				return
			}
			for _, h := range handlers {
				if c.play.notified[c.on] == nil {
					c.play.notified[c.on] = map[*handler][]int{}
				}
				c.play.notified[c.on][h] = append(c.play.notified[c.on][h], steps...)
			}
		}
	}
}

func (play *playPlanner) nearest(name string) string {
	var known []string
	for _, h := range play.handlers {
		known = append(known, h.topics...)
		if h.name != "" {
			known = append(known, h.name)
		}
	}
	if hint := suggest.DidYouMean(name, known); hint != "" {
		return hint
	}
	if len(known) == 0 {
		return "the play has no handlers"
	}
	slices.Sort(known)
	return "the play has " + strings.Join(slices.Compact(known), ", ")
}

// maybeFlushed keeps the notifications of a handler that may not be flushed, as in a rescue: the next flush runs it if not.
func (p *playsState) maybeFlushed(play *playPlanner, h *handler, from int) {
	seen := map[*plannedHost]bool{}
	for i := from; i < len(p.plan.Steps); i++ {
		m := p.machines[p.plan.Steps[i].Host]
		if m == nil || seen[m] {
			continue
		}
		seen[m] = true
		if play.flushed[m] == nil {
			play.flushed[m] = map[*handler]flushed{}
		}
		f := play.flushed[m][h]
		play.flushed[m][h] = flushed{
			len(play.notified[m][h]),
			append(f.gates, gateAt{Gate: plan.Gate{Step: i, Ran: false}, text: "not flushed before", pos: h.task.Pos, role: 0}),
		}
	}
}
