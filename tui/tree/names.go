package tree

import (
	"cmp"
	"slices"
	"strings"

	"moon/plan"
	"moon/tui/draw"
	"moon/tui/status"
)

// Title is how a node is called, unclean.
func (t *Tree) Title(n int) string {
	if i := t.Step(n); i >= 0 {
		return RanTitle(&t.Plan.Steps[i], cmp.Or(t.names[i], t.Soon[i]))
	}
	if s := t.Scope(n); s != nil && n > 0 {
		return t.scopeTitle(n, s, false)
	}
	return cmp.Or(t.Plan.RootFile, t.Plan.Name, "playbook")
}

// StepTitle is a step's name, with the loop's item where the name does not tell the iterations apart.
func StepTitle(s *plan.Step) string { return s.Label(s.Title()) }

// Task reports whether a node is a task over several hosts.
func (t *Tree) Task(n int) bool {
	s := t.Scope(n)
	return s != nil && s.Kind == plan.ScopeTask
}

// HostRow is the host that a row is about: right below a task over several hosts each row is one. Others have none.
func (t *Tree) HostRow(n int) string {
	if n <= 0 || t.Parent[n] < 0 {
		return ""
	}
	if !t.Task(int(t.Parent[n])) {
		return ""
	}
	if i := t.Steps(n).From; i < t.Steps(n).To {
		if t.Step(n) >= 0 {
			return status.On(&t.Plan.Steps[i])
		}
		return t.Plan.Steps[i].Host
	}
	return ""
}

// RanTitle is the name a step has since it started, when all of it is known.
func RanTitle(s *plan.Step, ran string) string {
	if ran == "" {
		return StepTitle(s)
	}
	return s.Label(ran)
}

// scopeTitle is a scope's kind and name. Short leaves away what the place in the tree says as well.
func scopeTitle(s *plan.Scope, short bool) string {
	kind, name := status.ScopeTitle(s)
	if short && (s.Kind == plan.ScopePlay || s.Kind == plan.ScopeInclude) || s.Kind == plan.ScopeTask && name != "" {
		kind = ""
	}
	switch {
	case name == "":
		return cmp.Or(kind, string(s.Kind))
	case kind == "":
		return name
	}
	return kind + ": " + name
}

// scopeTitle is scopeTitle, with the name of a loop as far as its rounds have it by now.
func (t *Tree) scopeTitle(n int, s *plan.Scope, short bool) string {
	if s.Kind == plan.ScopeLoop && strings.Contains(s.Name, "{{") {
		if name := t.LoopName(n, s.Name); name != s.Name {
			named := *s
			named.Name = name
			s = &named
		}
	}
	return scopeTitle(s, short)
}

// LoopName is the name of a loop without the templates in it: the words that the names of its rounds share, with dots for what
// differs. While no round has a name without templates it is the name as written.
func (t *Tree) LoopName(n int, written string) string {
	const enough = 50 // rounds to look at: there may be thousands
	var start, end []string
	seen := 0
	for c := n + 1; c < n+int(t.Size[n]) && seen < enough; c += int(t.Size[c]) {
		name, own := t.roundName(c)
		if name == "" || strings.Contains(name, "{{") {
			continue
		}
		words := strings.Fields(name)
		if seen++; seen == 1 {
			if own == "" || !strings.Contains(written, own) { // the rounds all have this one
				return name
			}
			start, end = words, words
			continue
		}
		start, end = start[:same(start, words, false)], end[len(end)-same(end, words, true):]
	}
	if seen < 2 || len(start)+len(end) == 0 {
		return written
	}
	return strings.Join(append(append(slices.Clip(start), draw.UnicodeGlyphs.Dots), end...), " ")
}

// roundName is the name of a round of a loop without its item, as far as it is known by now, and what the loop calls the item.
func (t *Tree) roundName(n int) (name, variable string) {
	i := t.Step(n)
	if i < 0 {
		return t.Scope(n).Name, ""
	}
	p := &t.Plan.Steps[i]
	if p.Loop != nil {
		variable = p.Loop.Var
	}
	if p.Name == "" { // it is called by what it does
		return "", variable
	}
	return cmp.Or(t.names[i], t.Soon[i], p.Name), variable
}

// same is how many words two names share at their start, or at their end.
func same(a, b []string, atEnd bool) int {
	n := 0
	for n < min(len(a), len(b)) {
		if x, y := n, n; atEnd && a[len(a)-1-x] != b[len(b)-1-y] || !atEnd && a[x] != b[y] {
			break
		}
		n++
	}
	return n
}

// FailedItems are the items of a loop whose rounds have failed, as many of them as are asked for.
func (t *Tree) FailedItems(n, most int) (items []string) {
	for c := n + 1; c < n+int(t.Size[n]) && len(items) < most; c += int(t.Size[c]) {
		if one := t.Tally(c); one.Failed() == 0 {
			continue
		}
		label := ""
		if i := t.Step(c); i < 0 {
			label = t.Scope(c).Item
		} else if l := t.Plan.Steps[i].Loop; l != nil {
			label = l.Label
		}
		if label != "" {
			items = append(items, label)
		}
	}
	return items
}

// Short is a node's name as a row shows it, cut to w cells.
func (t *Tree) Short(n, w int, narrow bool, dots string) string {
	title, path := "", false
	switch s := t.Scope(n); {
	case n == 0:
		title, path = t.Title(0), true
	case t.HostRow(n) != "":
		title = t.HostRow(n)
		// The dots say whether the terminal shows more than ASCII.
		if dots == draw.UnicodeGlyphs.Dots {
			title = strings.Replace(title, "->", draw.UnicodeGlyphs.Arrow, 1)
		}
	case s != nil:
		title = t.scopeTitle(n, s, narrow)
		if dots != draw.UnicodeGlyphs.Dots {
			title = strings.ReplaceAll(title, draw.UnicodeGlyphs.Dots, dots)
		}
		path = s.Kind == plan.ScopeInclude && s.Item == ""
	default:
		title = t.Title(n)
	}
	title = draw.Plain(title)
	if !path || draw.Cells(title) <= w {
		return draw.CutMiddle(title, w, dots)
	}
	// The end of a path says most, so it is cut at its left, after the word for what it is.
	if i := strings.Index(title, ": "); i >= 0 && w-i-2 >= 12 {
		return title[:i+2] + draw.CutLeft(title[i+2:], w-i-2, dots)
	}
	return draw.CutLeft(title, w, dots)
}
