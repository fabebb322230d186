package choice

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/selector"
)

// byTargets is what excludes the steps that no target needs.
const byTargets = "the targets"

// keepTargets excludes all but the steps that are named as targets, and what these need.
func (c *chooser) keepTargets(targets []string, always func(*plan.Step) bool) {
	kept := map[int]bool{}
	for _, text := range targets {
		for _, i := range c.matchTarget(text) {
			kept[i] = true
		}
	}
	// What an include needs is needed as well, and a handler may be in one.
	for size := -1; size != len(kept); {
		size = len(kept)
		c.keepNeeds(kept, always)
		c.keepHandlers(kept)
		c.keepIncludes(kept)
	}
	for i := range c.p.Steps {
		if path := c.p.Steps[i].Path; !kept[i] && c.LeftOut[path] == "" {
			c.LeftOut[path] = byTargets
		}
	}
}

// matchTarget are the steps that a target names, as --only does, or else those with a tag of that name.
func (c *chooser) matchTarget(text string) []int {
	if len(selector.Match(c.p, text)) > 0 || len(selector.ToCome(c.p, text)) > 0 {
		return c.match("--only", text)
	}
	found, tags := []int(nil), []string(nil)
	for i := range c.p.Steps {
		tags = append(tags, c.p.Steps[i].Tags...)
		if slices.Contains(c.p.Steps[i].Tags, text) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		d := diag.Diagnostic{Pos: diag.Pos{File: "target " + text}}
		d.Message, d.Hint = selector.NoMatch(c.p, text)
		d.Message = strings.Replace(d.Message, "no step is", "no step, block or tag is", 1)
		if hint := suggest.DidYouMean(text, tags); hint != "" && !strings.HasPrefix(d.Hint, "did you mean") {
			d.Hint = hint
		} else if hint == "" && !strings.HasPrefix(d.Hint, "did you mean") {
			d.Hint = "moon run PLAYBOOK --list shows what can be named; a playbook without an extension is written with its directory, ./" + text
		}
		c.Wrong.Add(d)
	}
	return found
}

// keepNeeds takes in what the steps need, and what that needs: by `needs:`, for a value, or as what decides whether they are there.
func (c *chooser) keepNeeds(kept map[int]bool, always func(*plan.Step) bool) {
	var next []int
	for i := range c.p.Steps {
		if kept[i] {
			next = append(next, i)
		}
	}
	keep := func(steps ...int) {
		for _, i := range steps {
			if !kept[i] {
				kept[i], next = true, append(next, i)
			}
		}
	}
	hosts := map[string]bool{}
	for len(next) > 0 {
		s := &c.p.Steps[next[len(next)-1]]
		next = next[:len(next)-1]
		hosts[s.Host] = true
		keep(c.needsOf(s)...)
		for _, u := range s.Unknowns {
			keep(u.Steps...)
		}
		keep(s.Task.Took...)
		for _, g := range s.Gates {
			for i := g.Step; i < g.End(); i++ {
				keep(i)
			}
		}
	}
	// A play gathers facts before its tasks, whether or not they say that they use them.
	for i := range c.p.Steps {
		if s := &c.p.Steps[i]; hosts[s.Host] && always(s) {
			kept[i] = true
		}
	}
}

// needsOf are the steps that one needs by `needs:`, its own or those of what it is in.
func (c *chooser) needsOf(s *plan.Step) (steps []int) {
	for _, n := range c.p.NeedsOf(s.Index) {
		if n.Scope <= 0 {
			steps = append(steps, n.Step)
			continue
		}
		for i := c.p.Scopes[n.Scope].First; i < c.p.Scopes[n.Scope].Last; i++ {
			steps = append(steps, i)
		}
	}
	return steps
}

// keepHandlers takes in the handlers that the steps may notify: they belong to what the steps do.
func (c *chooser) keepHandlers(kept map[int]bool) {
	is := func(i int) bool { return kept[i] }
	for i := range c.p.Steps {
		if s := &c.p.Steps[i]; s.Handler && slices.ContainsFunc(s.Notifiers, is) {
			kept[i] = true
		}
	}
}
