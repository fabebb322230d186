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

// takeHandlers adds the handlers of a role. Where it has been used before, they get the parameters of this use; with handlers_from it
// may have others each time.
func (hs *handlerSet) takeHandlers(r *role, t *playbook.Task, read func() []*handler) {
	known, own := false, r.files.Handlers.File
	for _, h := range hs.list {
		if h.role != nil && h.role.Dir == r.Dir && h.role.Name == r.Name {
			h.by, known = t, known || own != nil && h.file.Path == own.Path
		}
	}
	if !known {
		hs.list = append(hs.list, read()...)
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
	if h.role == nil {
		return false
	}
	role, own := strings.CutSuffix(name, ": "+h.name)
	role = strings.TrimSuffix(role, " ")
	return own && (role == h.role.Name || role == h.role.FullName())
}

// wanted are the handlers that a name stands for: the one of that name, and all that listen to it. Of several with one name the
// first of the play counts, or else that of the role that came last; in a playbook of steps, the first of the nearest file.
func wanted(list []*handler, name string) (found []*handler) {
	var own *handler
	for _, h := range list {
		if !h.called(name) {
			continue
		}
		if own == nil || h.role != own.role || h.around != own.around {
			own = h
		}
	}
	if own != nil {
		found = append(found, own)
	}
	for _, h := range list {
		if h != own && slices.Contains(h.topics, name) {
			found = append(found, h)
		}
	}
	return found
}

// inReach are the handlers that a task can notify: all of its play, or those of the files of steps that it is in, the root first.
func (p *playsState) inReach(c *taskContext) []*handler {
	out := func(h *handler) bool { return h.around != nil && !p.Within(c.within, h.around.within) }
	if !slices.ContainsFunc(c.handlers.list, out) {
		return c.handlers.list
	}
	return slices.DeleteFunc(slices.Clone(c.handlers.list), out)
}

// notify takes down which handlers a task may notify on a host.
func (p *playsState) notify(c *taskContext) {
	if len(c.notify) == 0 || c.handlers == nil {
		return
	}
	var steps []int
	// Only what may run can notify: a handler that none of these reaches is not in the plan.
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
			p.ReportLate(v, c.chain, "name the handlers", "which handler to notify", r.Missing)
			continue
		}
		names, ok := got.([]any)
		if !ok {
			names = []any{got}
		}
		for _, one := range names {
			if one == any(value.Omit) {
				continue
			}
			name := strings.TrimSpace(value.Text(one))
			handlers := wanted(p.inReach(c), name)
			if n := len(c.handlers.awaits); n > 0 && len(handlers) == 0 {
				p.plan.Steps[c.handlers.awaits[n-1]].Place.Called = true
				continue
			}
			if len(handlers) == 0 {
				p.Errorf(v.Pos(), utf8.RuneCountInString(plan.FirstLine(v.Text())), c.chain, p.nearestHandler(c, name),
					"there is no handler %s", plan.Quoted(name))
				return
			}
			for _, h := range handlers {
				at := notice{c.on, h}
				if !h.task.Hosts.IsZero() { // it says itself where it runs
					at.on = c.handlers.home
				}
				c.handlers.notified[at] = append(c.handlers.notified[at], steps...)
			}
		}
	}
}

// nearestHandler says which handler may have been meant.
func (p *playsState) nearestHandler(c *taskContext, name string) string {
	for _, h := range wanted(c.handlers.list, name) {
		if h.around != nil { // it is out of reach
			return "that of " + h.around.file.Name + " is for the steps of that file; put it under `handlers:` of the playbook"
		}
	}
	whose := "the playbook"
	if c.play != nil {
		whose = "the play"
	}
	var known []string
	for _, h := range p.inReach(c) {
		known = append(known, h.topics...)
		if h.name != "" {
			known = append(known, h.name)
		}
	}
	if hint := suggest.DidYouMean(name, known); hint != "" {
		return hint
	}
	if len(known) == 0 {
		return whose + " has no handlers"
	}
	slices.Sort(known)
	return whose + " has " + strings.Join(slices.Compact(known), ", ")
}

// maybeFlushed keeps the notifications of a handler that may not be flushed, as in a rescue: the next flush runs it if not. first is the
// first step of it that a host has now.
func (p *playsState) maybeFlushed(c *taskContext, h *handler, first int) {
	if first < 0 || first >= len(p.plan.Steps) {
		return
	}
	hs, at := c.handlers, notice{c.on, h}
	f := hs.flushed[at]
	hs.flushed[at] = flushed{
		len(hs.notified[at]),
		append(f.gates, gateAt{Gate: plan.Gate{Step: first, Ran: false}, text: "not flushed before", pos: h.task.Pos, role: 0}),
	}
}

// firstOf is the first step of a host among those from a place on; -1: it has none.
func (p *playsState) firstOf(host *plannedHost, from int) int {
	first := slices.IndexFunc(p.plan.Steps[from:], func(s plan.Step) bool { return s.Host == host.Name })
	if first < 0 {
		return first
	}
	return from + first
}
