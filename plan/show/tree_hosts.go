package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/hostnames"
)

// groupsShown is how many groups of hosts, which do something else each, are printed of one task.
const groupsShown = 12

// alike are hosts on which a task does the same.
type alike struct {
	hosts []string
	spans []span // their steps, by host
	lines []treeLine
	refs  [][]int // the steps that the lines name, in order, by host
}

// span is a range of steps.
type span struct{ from, to int }

// addTask prints a task over hosts. Those on which it is the same but for their own names and steps are one entry, so that a thousand of
// them are as readable as one.
func (t *treeText) addTask(c plan.Scope, depth int) {
	groups := t.groupHosts(c)
	// All hosts are alike: the task needs no head of its own.
	if len(groups) != 1 {
		t.addHead(c, depth)
		depth++
	}
	shown := groups
	if len(groups) > groupsShown {
		shown = groups[:groupsShown-1]
	}
	for i := range shown {
		t.addGroup(c, &shown[i], depth)
	}
	left := 0
	for _, g := range groups[len(shown):] {
		left += len(g.hosts)
	}
	if left > 0 {
		t.addLine(depth, "", "and %s more, with other values each; --format flat lists them", plan.CountOf(left, "host"))
	}
}

// groupHosts groups the hosts of a task by what it does on them. Hosts that are alike only if each is called <host> where its own name
// stands are so.
func (t *treeText) groupHosts(c plan.Scope) []alike {
	exact := t.gatherAlike(c, nil, func(_, text string) string { return text })
	var single []alike
	for _, g := range exact {
		if len(g.hosts) == 1 {
			single = append(single, g)
		}
	}
	// With one of a kind there is nothing that could be alike without its name.
	if len(single) < 2 {
		return exact
	}
	var only []span
	for _, g := range single {
		only = append(only, g.spans[0])
	}
	groups := slices.DeleteFunc(exact, func(g alike) bool { return len(g.hosts) == 1 })
	groups = append(groups, t.gatherAlike(c, only, hostnames.Nameless)...)
	slices.SortFunc(groups, func(a, b alike) int { return cmp.Compare(a.spans[0].from, b.spans[0].from) })
	return groups
}

// gatherAlike groups hosts by the text about them. only, if it is not nil, are those that are looked at.
func (t *treeText) gatherAlike(c plan.Scope, only []span, form func(host, text string) string) []alike {
	if only == nil {
		for i := c.First; i < c.Last; {
			from := i
			for i++; i < c.Last && t.p.Steps[i].Host == t.p.Steps[from].Host; i++ {
			}
			if t.shown[i] > t.shown[from] {
				only = append(only, span{from, i})
			}
		}
	}
	var groups []alike
	known := map[string]int{}
	for _, s := range only {
		host := t.p.Steps[s.from].Host
		// The texts are made as for printing, with marks for what differs from host to host.
		lines, refs := t.aboutSteps(c, s)
		var key strings.Builder
		for i := range lines {
			lines[i].text = form(host, lines[i].text)
			key.WriteString(lines[i].text + "\n" + lines[i].at + "\n")
		}
		// Equal texts with another number of steps in them are not the same.
		text := fmt.Sprint(key.String(), len(refs))
		i, ok := known[text]
		if !ok {
			i = len(groups)
			known[text], groups = i, append(groups, alike{lines: lines})
		}
		g := &groups[i]
		g.hosts, g.spans, g.refs = append(g.hosts, host), append(g.spans, s), append(g.refs, refs)
	}
	return groups
}

// Stand-ins for what differs between hosts that are alike. They are of the private use area: text of a playbook that has them is at
// worst not taken for alike, or the other way round shown with a step too many.
const (
	refMark = "\uf8f0"
	whoMark = "\uf8f1"
)

// aboutSteps is what is printed about some steps of a task, with marks for steps and their host, and the steps in question.
func (t *treeText) aboutSteps(c plan.Scope, s span) (lines []treeLine, refs []int) {
	was, ref, who := t.lines, t.ref, t.who
	t.lines = nil
	// Called in the order of the text, so the steps can be put back in their places.
	t.ref = func(step int) string {
		refs = append(refs, step)
		return refMark
	}
	t.who = func(*plan.Step) string { return whoMark }
	t.addScope(c.ID, s.from, s.to, 0)
	lines, t.lines, t.ref, t.who = t.lines, was, ref, who
	return lines, refs
}

// addGroup prints what is the same on some hosts.
func (t *treeText) addGroup(c plan.Scope, g *alike, depth int) {
	if len(g.hosts) == 1 { // with its name in full wherever it stands
		t.addScope(c.ID, g.spans[0].from, g.spans[0].to, depth)
		return
	}
	next := 0
	for _, l := range g.lines {
		if t.shaping {
			t.lines = append(t.lines, l)
			continue
		}
		// Each mark stands for the same step on each of the hosts.
		for strings.Contains(l.text, refMark) && next < len(g.refs[0]) {
			var steps []int
			for _, refs := range g.refs {
				steps = append(steps, refs[next])
			}
			l.text = strings.Replace(l.text, refMark, idRange(steps), 1)
			next++
		}
		l.text = strings.Repeat("  ", depth) + strings.ReplaceAll(l.text, whoMark, hostnames.List(g.hosts))
		t.lines = append(t.lines, l)
	}
}

// batches are those batches of a play, one after the other, that are the same but for their hosts.
type batches struct {
	shape string
	first plan.Scope   // the one that is printed
	more  []plan.Scope // those that are not
}

// takeBatch reports whether a batch need not be printed, since it is as the one before. What was not printed is said before another is.
func (b *batches) takeBatch(t *treeText, c plan.Scope, depth int) bool {
	shape := t.batchShape(c)
	if b.shape != "" && shape == b.shape {
		b.more = append(b.more, c)
		return true
	}
	b.endBatches(t, depth)
	*b = batches{shape: shape, first: c}
	return false
}

// endBatches says which batches are as one that was printed.
func (b *batches) endBatches(t *treeText, depth int) {
	if len(b.more) == 0 {
		return
	}
	first, last := b.more[0], b.more[len(b.more)-1]
	name := first.Name
	if len(b.more) > 1 {
		from, _, _ := strings.Cut(strings.TrimPrefix(first.Name, "batch "), " ")
		name = "batches " + from + "–" + strings.TrimPrefix(last.Name, "batch ")
	}
	as, _, _ := strings.Cut(b.first.Name, " of ")
	t.addLine(depth, first.Origin.String(), "%s  on %s, as %s: %s–%s", name, hostnames.List(hostsBetween(t.p, first.First, last.Last)), as,
		t.p.Steps[first.First].ID(), strings.TrimPrefix(t.p.Steps[last.Last-1].ID(), "step-"))
	b.more = nil
}

// batchShape is what a batch does, whichever hosts it is for.
func (t *treeText) batchShape(c plan.Scope) string {
	hosts := hostsBetween(t.p, c.First, c.Last)
	// The walk changes the printer, which is put back at the end.
	was := *t
	t.lines, t.shaping = nil, true
	t.ref, t.who = func(int) string { return refMark }, func(*plan.Step) string { return whoMark }
	t.addScope(c.ID, c.First, c.Last, 0)
	var shape strings.Builder
	for _, l := range t.lines {
		for _, host := range hosts {
			l.text = hostnames.Nameless(host, l.text)
		}
		shape.WriteString(l.text + "\n" + l.at + "\n")
	}
	*t = was
	return shape.String()
}

// idRange are the numbers of steps: step-0003–0005, or the first where they do not follow each other.
func idRange(steps []int) string {
	steps = slices.Compact(slices.Sorted(slices.Values(steps)))
	first, last := steps[0], steps[len(steps)-1]
	id := func(step int) string { return (&plan.Step{Index: step}).ID() }
	switch {
	// One step for all hosts, as of run_once.
	case first == last:
		return id(first)
	case last-first+1 == len(steps):
		return id(first) + "–" + strings.TrimPrefix(id(last), "step-")
	case len(steps) == 2:
		return id(first) + "+" + strings.TrimPrefix(id(last), "step-")
	}
	return id(first) + "…"
}

// hostsOfScope says which hosts a play or a batch is about.
func hostsOfScope(p *plan.Plan, s plan.Scope) string {
	hosts := hostsBetween(p, s.First, s.Last)
	text := ""
	switch {
	case len(hosts) == 0:
	case s.Kind == plan.ScopeBatch:
		text = "  on " + hostnames.List(hosts)
	case len(hosts) == s.Hosts: // some may have no part in it
		text = ": " + strings.TrimSuffix(hostnames.List(hosts), " ("+plan.CountOf(len(hosts), "host")+")")
	}
	if s.Strategy != "" && s.Strategy != "linear" {
		text += ", strategy " + s.Strategy
	}
	return text
}

// hostsBetween are the hosts of some steps, in their order.
func hostsBetween(p *plan.Plan, from, to int) (hosts []string) {
	seen := map[string]bool{}
	for i := from; i < to; i++ {
		if host := p.Steps[i].Host; !seen[host] {
			seen[host], hosts = true, append(hosts, host)
		}
	}
	return hosts
}

// notifies are the names of the handlers that a step may make run.
type notifies struct {
	names    []string
	possible []string // only the run knows which of them it names
}

// handlersByStep are the handlers that steps may make run.
func handlersByStep(p *plan.Plan) map[int]notifies {
	all := map[int]notifies{}
	for i := range p.Steps {
		h := &p.Steps[i]
		for _, step := range h.Notifiers {
			n := all[step]
			list := &n.names
			if h.NamedOnly(step) {
				list = &n.possible
			}
			if !slices.Contains(*list, h.Title()) {
				*list = append(*list, h.Title())
			}
			all[step] = n
		}
	}
	return all
}
