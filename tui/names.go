package tui

import (
	"cmp"
	"path/filepath"
	"strings"

	"moon/plan"
	"moon/tui/standing"
)

// title is how a node is called, unclean.
func (t *tree) title(n int) string {
	if i := t.step(n); i >= 0 {
		return ranTitle(&t.plan.Steps[i], t.names[i])
	}
	if s := t.scope(n); s != nil && n > 0 {
		return scopeTitle(s, false)
	}
	return cmp.Or(t.plan.RootFile, t.plan.Name, "playbook")
}

// stepTitle is a step's name, with the loop's item where the name does not tell the iterations apart.
func stepTitle(s *plan.Step) string { return s.Label(s.Title()) }

// titleOn is stepTitle with the host of the step, where there are several.
func (m *model) titleOn(s *plan.Step) string { return m.onHost(stepTitle(s), s) }

func (m *model) onHost(title string, s *plan.Step) string {
	if !m.tree.over {
		return title
	}
	return title + " on " + standing.On(s)
}

// stepTitle is how a step of the plan is called, as far as it is known by now, with its host where there are several.
func (m *model) stepTitle(step int) string {
	return m.onHost(m.tree.title(int(m.tree.stepNode[step])), &m.plan.Steps[step])
}

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

// short is a node's name as a row shows it, cut to w cells.
func (t *tree) short(n, w int, narrow bool, dots string) string {
	title, path := "", false
	switch s := t.scope(n); {
	case n == 0:
		title, path = t.title(0), true
	case t.hostRow(n) != "":
		title = t.hostRow(n)
		if dots == unicodeGlyphs.dots {
			title = strings.Replace(title, "->", unicodeGlyphs.arrow, 1)
		}
	case s != nil:
		title = scopeTitle(s, narrow)
		path = s.Kind == plan.ScopeInclude && s.Item == ""
	default:
		title = t.title(n)
	}
	title = plain(title)
	if !path || cells(title) <= w {
		return cutMiddle(title, w, dots)
	}
	if i := strings.Index(title, ": "); i >= 0 && w-i-2 >= 12 {
		return title[:i+2] + cutLeft(title[i+2:], w-i-2, dots)
	}
	return cutLeft(title, w, dots)
}

// absolute is the place of a file the plan names.
func absolute(p *plan.Plan, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(p.Root, file)
}
