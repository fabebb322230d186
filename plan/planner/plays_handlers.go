package planner

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/plan"
	"moon/plan/planner/calls"
	"moon/plan/playbook"
)

// takeHandlers adds the handlers of a role. Where it has been used before, it is as with Ansible: to the use of a role that is read with
// the play a handler of a name belongs to the last one; each use of an include has its own; those that listen are there for every use.
func (hs *handlerSet) takeHandlers(use *taskContext, r *role, t *playbook.Task, read func() []*handler) {
	own, used := r.files.Handlers.File, calls.UseOf(r.Name, r.Dir, t)
	before := slices.DeleteFunc(slices.Clone(hs.list), func(h *handler) bool {
		return h.role == nil || h.role.Dir != r.Dir || h.role.Name != r.Name || own == nil || h.file.Path != own.Path
	})
	if !t.Dynamic && slices.ContainsFunc(before, func(h *handler) bool { return h.used == used }) {
		return
	}
	for _, h := range read() {
		h.used, h.use = used, use
		i := slices.IndexFunc(before, func(old *handler) bool {
			return len(h.topics) == 0 && old.task == h.task && old.name == h.name && (old.used == used || !t.Dynamic)
		})
		if i >= 0 { // it may be notified already, so it is the same one
			h, before[i].inside = before[i], h.inside
			if h.by, h.use = t, use; h.used == used {
				continue
			}
			h.used = used
			hs.list = slices.DeleteFunc(hs.list, func(other *handler) bool { return other == h })
		}
		hs.list = append(hs.list, h)
	}
}

// names are what a task can call the handler.
func (h *handler) names() []string {
	if h.role == nil {
		return calls.NamesOf(h.name)
	}
	return calls.NamesOf(h.name, h.role.Name, h.role.FullName())
}

// wanted are the handlers that a name stands for: the one of that name, and all that listen to it. Of several with one name the
// first of the play counts, or else that of the role that came last; in a playbook of steps, the first of the nearest file.
func wanted(list []*handler, name string) (found []*handler) {
	var own *handler
	for _, h := range list {
		if !strings.HasSuffix(name, h.name) || !slices.Contains(h.names(), name) {
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
	var late []calls.Said
	for _, v := range c.notify {
		said, ok := calls.Of(v, p.plan, steps, func(s *plan.Step) *plan.Renderer {
			return p.Renderer(&plan.Env{Plan: p.plan, Engine: p.engine, Frame: s.Frame}, c.chain)
		})
		switch {
		case !ok:
		case said.Late:
			late = append(late, said)
		case !p.tell(c, steps, &said, nil):
			return
		case said.Unheard:
			said.Note(p.plan, steps, p.handlerNames(c))
		}
	}
	if len(late) == 0 {
		return
	}
	known := p.handlerNames(c)
	for _, said := range late {
		if !p.tell(c, steps, &said, known) {
			return
		}
		said.Note(p.plan, steps, known)
	}
}

// tell takes down that steps notify the handlers that an entry of `notify` names, or could name. It reports whether there are any.
func (p *playsState) tell(c *taskContext, steps []int, said *calls.Said, known []string) bool {
	found := map[*handler][]string{}
	reach, wrong := p.inReach(c), utf8.RuneCountInString(plan.FirstLine(said.Text.Text()))
	for _, name := range said.Could(known) {
		handlers := wanted(reach, name)
		if n := len(c.handlers.awaits); n > 0 && len(handlers) == 0 {
			p.plan.Steps[c.handlers.awaits[n-1]].Place.Called = true
			continue
		}
		reached := func(i int) bool { return p.plan.Steps[i].Prediction == plan.WillRun }
		if len(handlers) == 0 && c.play != nil && !slices.ContainsFunc(steps, reached) {
			p.Report(said.MayFail(name, c.chain, p.nearestHandler(c, name)))
			continue
		}
		if len(handlers) == 0 {
			p.Errorf(said.Text.Pos(), wrong, c.chain, p.nearestHandler(c, name), "%s", plan.NoHandler(name))
			return false
		}
		for _, h := range handlers {
			found[h] = append(found[h], name)
		}
	}
	if said.Open && len(found)+len(c.handlers.awaits) == 0 {
		p.Errorf(said.Text.Pos(), wrong, c.chain, p.nearestHandler(c, said.Text.Text()), "there is no handler that %s can name",
			plan.Quoted(said.Text.Text()))
		return false
	}
	for h, names := range found {
		at := notice{c.on, h}
		if !h.task.Hosts.IsZero() { // it says itself where it runs
			at.on = c.handlers.home
		}
		by := c.handlers.notified[at]
		by.Add(steps, said, names)
		c.handlers.notified[at] = by
	}
	return true
}

// handlerNames are all names and topics of the handlers that a task can notify.
func (p *playsState) handlerNames(c *taskContext) (names []string) {
	for _, h := range p.inReach(c) {
		names = append(append(names, h.topics...), h.names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
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
	return calls.Nearest(name, whose, known)
}

// maybeFlushed keeps the notifications of a handler that may not be flushed, as in a rescue: the next flush runs it if not. first is the
// first step of it that a host has now.
func (p *playsState) maybeFlushed(c *taskContext, h *handler, first int) {
	if first < 0 || first >= len(p.plan.Steps) {
		return
	}
	hs, at := c.handlers, notice{c.on, h}
	hs.flushed[at] = append(slices.Clip(hs.flushed[at]), plan.Flush{Step: first, Notifiers: len(hs.notified[at].Steps)})
}

// firstOf is the first step of a host among those from a place on; -1: it has none.
func (p *playsState) firstOf(host *plannedHost, from int) int {
	first := slices.IndexFunc(p.plan.Steps[from:], func(s plan.Step) bool { return s.Host == host.Name })
	if first < 0 {
		return first
	}
	return from + first
}
