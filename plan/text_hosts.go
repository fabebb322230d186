package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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

// task prints a task over hosts. Those on which it is the same but for their own names and steps are one entry, so that a thousand of
// them are as readable as one.
func (t *treeText) task(c Scope, depth int) {
	groups := t.groups(c)
	if len(groups) != 1 {
		t.head(c, depth)
		depth++
	}
	shown := groups
	if len(groups) > groupsShown {
		shown = groups[:groupsShown-1]
	}
	for i := range shown {
		t.group(c, &shown[i], depth)
	}
	left := 0
	for _, g := range groups[len(shown):] {
		left += len(g.hosts)
	}
	if left > 0 {
		t.add(depth, "", "and %s more, with other values each; --format flat lists them", CountOf(left, "host"))
	}
}

// groups are the hosts of a task by what it does on them. Hosts that are alike only if each is called <host> where its own name stands
// are so.
func (t *treeText) groups(c Scope) []alike {
	exact := t.gather(c, nil, func(_, text string) string { return text })
	var single []alike
	for _, g := range exact {
		if len(g.hosts) == 1 {
			single = append(single, g)
		}
	}
	if len(single) < 2 {
		return exact
	}
	var only []span
	for _, g := range single {
		only = append(only, g.spans[0])
	}
	groups := slices.DeleteFunc(exact, func(g alike) bool { return len(g.hosts) == 1 })
	groups = append(groups, t.gather(c, only, Nameless)...)
	slices.SortFunc(groups, func(a, b alike) int { return cmp.Compare(a.spans[0].from, b.spans[0].from) })
	return groups
}

// gather groups hosts by the text about them. only, if it is not nil, are those that are looked at.
func (t *treeText) gather(c Scope, only []span, form func(host, text string) string) []alike {
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
		lines, refs := t.about(c, s)
		var key strings.Builder
		for i := range lines {
			lines[i].text = form(host, lines[i].text)
			key.WriteString(lines[i].text + "\n" + lines[i].at + "\n")
		}
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

// about is what is printed about some steps of a task, with marks for steps and their host, and the steps in question.
func (t *treeText) about(c Scope, s span) (lines []treeLine, refs []int) {
	was, ref, who := t.lines, t.ref, t.who
	t.lines = nil
	t.ref = func(step int) string {
		refs = append(refs, step)
		return refMark
	}
	t.who = func(*Step) string { return whoMark }
	t.scope(c.ID, s.from, s.to, 0)
	lines, t.lines, t.ref, t.who = t.lines, was, ref, who
	return lines, refs
}

// group prints what is the same on some hosts.
func (t *treeText) group(c Scope, g *alike, depth int) {
	if len(g.hosts) == 1 { // with its name in full wherever it stands
		t.scope(c.ID, g.spans[0].from, g.spans[0].to, depth)
		return
	}
	next := 0
	for _, l := range g.lines {
		if t.shaping {
			t.lines = append(t.lines, l)
			continue
		}
		for strings.Contains(l.text, refMark) && next < len(g.refs[0]) {
			var steps []int
			for _, refs := range g.refs {
				steps = append(steps, refs[next])
			}
			l.text = strings.Replace(l.text, refMark, idsOf(steps), 1)
			next++
		}
		l.text = strings.Repeat("  ", depth) + strings.ReplaceAll(l.text, whoMark, HostsName(g.hosts))
		t.lines = append(t.lines, l)
	}
}

// batches are those batches of a play, one after the other, that are the same but for their hosts.
type batches struct {
	shape string
	first Scope   // the one that is printed
	more  []Scope // those that are not
}

// take reports whether a batch need not be printed, since it is as the one before. What was not printed is said before another is.
func (b *batches) take(t *treeText, c Scope, depth int) bool {
	shape := t.shape(c)
	if b.shape != "" && shape == b.shape {
		b.more = append(b.more, c)
		return true
	}
	b.end(t, depth)
	*b = batches{shape: shape, first: c}
	return false
}

// end says which batches are as one that was printed.
func (b *batches) end(t *treeText, depth int) {
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
	t.add(depth, first.Origin.String(), "%s  on %s, as %s: %s–%s", name, HostsName(t.p.hostsOf(first.First, last.Last)), as,
		t.p.Steps[first.First].ID(), strings.TrimPrefix(t.p.Steps[last.Last-1].ID(), "step-"))
	b.more = nil
}

// shape is what a batch does, whichever hosts it is for.
func (t *treeText) shape(c Scope) string {
	hosts := t.p.hostsOf(c.First, c.Last)
	was := *t
	t.lines, t.shaping = nil, true
	t.ref, t.who = func(int) string { return refMark }, func(*Step) string { return whoMark }
	t.scope(c.ID, c.First, c.Last, 0)
	var shape strings.Builder
	for _, l := range t.lines {
		for _, host := range hosts {
			l.text = Nameless(host, l.text)
		}
		shape.WriteString(l.text + "\n" + l.at + "\n")
	}
	*t = was
	return shape.String()
}

// idsOf are the numbers of steps: step-0003–0005, or the first where they do not follow each other.
func idsOf(steps []int) string {
	steps = slices.Compact(slices.Sorted(slices.Values(steps)))
	first, last := steps[0], steps[len(steps)-1]
	id := func(step int) string { return (&Step{Index: step}).ID() }
	switch {
	case first == last:
		return id(first)
	case last-first+1 == len(steps):
		return id(first) + "–" + strings.TrimPrefix(id(last), "step-")
	case len(steps) == 2:
		return id(first) + "+" + strings.TrimPrefix(id(last), "step-")
	}
	return id(first) + "…"
}

// hostsNamed is how many names, or ranges of them, a list of hosts has at most.
const hostsNamed = 4

// HostsName is a list of hosts in few words: "web1, db1", "web[01:20] (20 hosts)". Ranges are written as inventories have them.
func HostsName(hosts []string) string {
	var parts []string
	named, cut := 0, false
	for i := 0; i < len(hosts); {
		n := inSequence(hosts[i:])
		if n < 3 {
			n = 1
		}
		if len(parts) == hostsNamed-1 && i+n < len(hosts) {
			cut = true
			break
		}
		part := hosts[i]
		if n > 1 {
			head, from, tail := numbered(hosts[i])
			_, to, _ := numbered(hosts[i+n-1])
			part = fmt.Sprintf("%s[%s:%s]%s", head, from, to, tail)
		}
		parts = append(parts, part)
		i += n
		named = i
	}
	text := strings.Join(parts, ", ")
	if cut {
		return fmt.Sprintf("%s and %d more (%s)", text, len(hosts)-named, CountOf(len(hosts), "host"))
	}
	if len(hosts) > len(parts) && len(hosts) > hostsNamed {
		text += " (" + CountOf(len(hosts), "host") + ")"
	}
	return text
}

// inSequence is how many hosts at the beginning differ only in a number that goes up by one.
func inSequence(hosts []string) int {
	head, number, tail := numbered(hosts[0])
	at, err := strconv.Atoi(number)
	if err != nil {
		return 1
	}
	n := 1
	for ; n < len(hosts); n++ {
		if hosts[n] != fmt.Sprintf("%s%0*d%s", head, len(number), at+n, tail) {
			break
		}
	}
	return n
}

// numbered splits the name of a host at the first number in it: web, 01 and .example.org.
func numbered(host string) (head, number, tail string) {
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	from := strings.IndexFunc(host, digit)
	if from < 0 {
		return host, "", ""
	}
	rest := host[from:]
	to := strings.IndexFunc(rest, func(r rune) bool { return !digit(r) })
	if to < 0 {
		to = len(rest)
	}
	return host[:from], rest[:to], rest[to:]
}

// Nameless is a text with <host> where the name of a host stands as a word of its own.
func Nameless(host, text string) string {
	var out strings.Builder
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	for {
		at := strings.Index(text, host)
		if at < 0 || host == "" {
			return out.String() + text
		}
		before, _ := utf8.DecodeLastRuneInString(out.String() + text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(host):])
		out.WriteString(text[:at])
		if part(before) || part(after) {
			out.WriteString(host)
		} else {
			out.WriteString("<host>")
		}
		text = text[at+len(host):]
	}
}

// whom says which hosts a play or a batch is about.
func (p *Plan) whom(s Scope) string {
	hosts := p.hostsOf(s.First, s.Last)
	text := ""
	switch {
	case len(hosts) == 0:
	case s.Kind == ScopeBatch:
		text = "  on " + HostsName(hosts)
	case len(hosts) == s.Hosts: // some may have no part in it
		text = ": " + strings.TrimSuffix(HostsName(hosts), " ("+CountOf(len(hosts), "host")+")")
	}
	if s.Strategy != "" && s.Strategy != "linear" {
		text += ", strategy " + s.Strategy
	}
	return text
}

// hostsOf are the hosts of some steps, in their order.
func (p *Plan) hostsOf(from, to int) (hosts []string) {
	seen := map[string]bool{}
	for i := from; i < to; i++ {
		if host := p.Steps[i].Host; !seen[host] {
			seen[host], hosts = true, append(hosts, host)
		}
	}
	return hosts
}

// notifies are the names of the handlers that steps may make run.
func (p *Plan) notifies() map[int][]string {
	all := map[int][]string{}
	for i := range p.Steps {
		h := &p.Steps[i]
		for _, step := range h.Notifiers {
			if !slices.Contains(all[step], h.Title()) {
				all[step] = append(all[step], h.Title())
			}
		}
	}
	return all
}
