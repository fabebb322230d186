package tui

import (
	"cmp"
	"slices"
	"strings"

	"moon/plan"
	"moon/tui/draw"
	"moon/tui/standing"
)

// title is how a node is called, unclean.
func (t *tree) title(n int) string {
	if i := t.step(n); i >= 0 {
		return ranTitle(&t.plan.Steps[i], cmp.Or(t.names[i], t.soon[i]))
	}
	if s := t.scope(n); s != nil && n > 0 {
		return t.scopeTitle(n, s, false)
	}
	return cmp.Or(t.plan.RootFile, t.plan.Name, "playbook")
}

// stepTitle is a step's name, with the loop's item where the name does not tell the iterations apart.
func stepTitle(s *plan.Step) string { return s.Label(s.Title()) }

// task reports whether a node is a task over several hosts.
func (t *tree) task(n int) bool {
	s := t.scope(n)
	return s != nil && s.Kind == plan.ScopeTask
}

// hostRow is the host that a row is about: right below a task over several hosts each row is one. Others have none.
func (t *tree) hostRow(n int) string {
	if n <= 0 || t.parent[n] < 0 {
		return ""
	}
	if !t.task(int(t.parent[n])) {
		return ""
	}
	if i := t.steps(n).From; i < t.steps(n).To {
		if t.step(n) >= 0 {
			return standing.On(&t.plan.Steps[i])
		}
		return t.plan.Steps[i].Host
	}
	return ""
}

// ranTitle is the name a step has since it started, when all of it is known.
func ranTitle(s *plan.Step, ran string) string {
	if ran == "" {
		return stepTitle(s)
	}
	return s.Label(ran)
}

// scopeTitle is a scope's kind and name. Short leaves away what the place in the tree says as well.
func scopeTitle(s *plan.Scope, short bool) string {
	kind, name := standing.ScopeTitle(s)
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
func (t *tree) scopeTitle(n int, s *plan.Scope, short bool) string {
	if s.Kind == plan.ScopeLoop && strings.Contains(s.Name, "{{") {
		if name := t.loopName(n, s.Name); name != s.Name {
			named := *s
			named.Name = name
			s = &named
		}
	}
	return scopeTitle(s, short)
}

// loopName is the name of a loop without the templates in it: the words that the names of its rounds share, with dots for what
// differs. While no round has a name without templates it is the name as written.
func (t *tree) loopName(n int, written string) string {
	const enough = 50 // rounds to look at: there may be thousands
	var start, end []string
	seen := 0
	for c := n + 1; c < n+int(t.size[n]) && seen < enough; c += int(t.size[c]) {
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
func (t *tree) roundName(n int) (name, variable string) {
	i := t.step(n)
	if i < 0 {
		return t.scope(n).Name, ""
	}
	p := &t.plan.Steps[i]
	if p.Loop != nil {
		variable = p.Loop.Var
	}
	if p.Name == "" { // it is called by what it does
		return "", variable
	}
	return cmp.Or(t.names[i], t.soon[i], p.Name), variable
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

// failedItems are the items of a loop whose rounds have failed, as many of them as are asked for.
func (t *tree) failedItems(n, most int) (items []string) {
	for c := n + 1; c < n+int(t.size[n]) && len(items) < most; c += int(t.size[c]) {
		if one := t.tally(c); one.failed() == 0 {
			continue
		}
		label := ""
		if i := t.step(c); i < 0 {
			label = t.scope(c).Item
		} else if l := t.plan.Steps[i].Loop; l != nil {
			label = l.Label
		}
		if label != "" {
			items = append(items, label)
		}
	}
	return items
}

// short is a node's name as a row shows it, cut to w cells.
func (t *tree) short(n, w int, narrow bool, dots string) string {
	title, path := "", false
	switch s := t.scope(n); {
	case n == 0:
		title, path = t.title(0), true
	case t.hostRow(n) != "":
		title = t.hostRow(n)
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
		title = t.title(n)
	}
	title = draw.Plain(title)
	if !path || draw.Cells(title) <= w {
		return draw.CutMiddle(title, w, dots)
	}
	if i := strings.Index(title, ": "); i >= 0 && w-i-2 >= 12 {
		return title[:i+2] + draw.CutLeft(title[i+2:], w-i-2, dots)
	}
	return draw.CutLeft(title, w, dots)
}
