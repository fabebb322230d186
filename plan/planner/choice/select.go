package choice

import (
	"fmt"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/selector"
)

// Choice is what a selection comes to in a plan.
type Choice struct {
	LeftOut map[string]string // by path: the flag that excludes the step
	Select  plan.Selection    // with paths in the place of numbers, so that it means the same when the plan has grown
	Wrong   diag.List
	Later   diag.List // warnings about selectors of steps that may come
}

// Exclude says which steps of a plan a selection excludes. What is always needed stays if the run starts later.
func Exclude(p *plan.Plan, of plan.Selection, always func(*plan.Step) bool) *Choice {
	c := &chooser{p: p, added: map[int]bool{}, Choice: Choice{LeftOut: map[string]string{}, Select: of}}
	for i := range p.Steps {
		for _, step := range selector.Added(p, i) {
			c.added[step] = true
		}
	}
	if of.StartAt != "" {
		if found := c.match("--start-at", of.StartAt); len(found) > 0 {
			for i := range found[0] {
				if !always(&p.Steps[i]) {
					c.LeftOut[p.Steps[i].Path] = "--start-at"
				}
			}
			// By a name it could begin earlier when steps of that name are added.
			c.Select.StartAt = p.Steps[found[0]].Path
		}
	}
	if len(of.Only) > 0 {
		only := map[int]bool{}
		for _, text := range of.Only {
			for _, i := range c.match("--only", text) {
				only[i] = true
			}
		}
		c.keepIncludes(only)
		for i := range p.Steps {
			// The first flag that excludes a step is named as the reason.
			if path := p.Steps[i].Path; !only[i] && c.LeftOut[path] == "" {
				c.LeftOut[path] = "--only"
			}
		}
	}
	if len(of.Targets) > 0 {
		c.keepTargets(of.Targets, always)
	}
	for _, text := range of.Skip {
		for _, i := range c.match("--skip", text) {
			if path := p.Steps[i].Path; c.LeftOut[path] == "" {
				c.LeftOut[path] = "--skip"
			}
		}
	}
	c.Select.Only, c.Select.Skip = selector.Pinned(p, of.Only), selector.Pinned(p, of.Skip)
	c.Select.Targets = selector.Pinned(p, of.Targets)
	return &c.Choice
}

type chooser struct {
	p     *plan.Plan
	added map[int]bool // steps that places have added
	Choice
}

// match are the steps that a selector names, with what the open places among them have added. For --only a step that comes keeps the
// places that may add it, before and after it is there: without them it never would be.
func (c *chooser) match(flag, text string) []int {
	found := selector.Match(c.p, text)
	for _, i := range slices.Clip(found) {
		found = append(found, selector.Added(c.p, i)...)
	}
	if slices.ContainsFunc(found, func(i int) bool { return !c.added[i] }) {
		return found
	}
	places := selector.ToCome(c.p, text)
	if len(found) == 0 {
		c.reportMissing(flag, text, places)
	}
	if flag == "--only" {
		found = append(found, places...)
	}
	return found
}

// keepIncludes takes in the includes of plays that what was chosen is inside of: they are steps, and without them nothing inside is
// planned.
func (c *chooser) keepIncludes(only map[int]bool) {
	type include struct{ host, written, from string }
	is := func(host string, at diag.Origin) include {
		return include{host, fmt.Sprint(at.File, at.Line, at.Column), strings.Join(at.Chain, " ")}
	}
	around := map[include]bool{}
	for i := range only {
		s := &c.p.Steps[i]
		for id := s.Scope; id > 0; id = c.p.Scopes[id].Parent {
			if scope := &c.p.Scopes[id]; scope.Kind == plan.ScopeInclude || scope.Kind == plan.ScopeRole {
				around[is(s.Host, scope.Origin)] = true
			}
		}
	}
	for i := range c.p.Steps {
		if s := &c.p.Steps[i]; strings.HasPrefix(s.Action, "include_") && around[is(s.Host, s.Origin)] {
			only[i] = true
		}
	}
}

// reportMissing reports that a selector names nothing: a mistake, unless a place may add what it names.
func (c *chooser) reportMissing(flag, text string, places []int) {
	d := diag.Diagnostic{Pos: diag.Pos{File: flag + " " + text}}
	d.Message, d.Hint = selector.NoMatch(c.p, text)
	if len(places) == 0 {
		c.Wrong.Add(d)
		return
	}
	first := c.p.StepRef(places[0])
	if flag == "--start-at" {
		d.Hint = first + " may add it, and needs what --start-at would exclude; use --only or --skip"
		c.Wrong.Add(d)
		return
	}
	d.Severity = diag.Warning
	if len(places) > 1 {
		first += " or another open place"
	}
	d.Message += " yet; " + first + " may add it in the run"
	if !strings.HasPrefix(d.Hint, "did you mean") {
		d.Hint = "if it does not come, the run says so at its end"
	}
	c.Later.Add(d)
}
