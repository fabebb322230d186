package planner

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// planPreset expands a parameterised playbook: its steps are in the plan, one scope deeper, and read what they are given
// as `parameters.NAME`.
func (p *planner) planPreset(c *taskContext, t *playbook.Task) {
	if t.Args.IsZero() {
		return // the parser has said why
	}
	scope := plan.Scope{
		Kind: plan.ScopePreset, Parent: c.scope, Name: strings.TrimSpace(t.Args.Text()), Origin: origin(t.Pos, c.chain),
		When: plan.WhenText(c.when),
	}
	if c.item != nil {
		scope.Item = c.item.label
	}
	if why, skip := p.skipped(c); skip {
		scope.Skipped = why
		p.closeScope(p.openScope(scope, scope.Name))
		return
	}
	inside := *c
	if t.StepVars.Kind() == playbook.Map {
		inside.params = p.layerOf(t.StepVars, c.params, p.frame(c, nil), func(fr *vars.Frame, l *vars.Layer) { fr.Params = l },
			"preset vars", c.chain, false)
	}
	r := p.renderer(p.env(&inside, nil), c.chain)
	name := strings.TrimSpace(r.Text(t.Args))
	switch {
	case r.Failed:
		return
	case len(r.Missing) > 0:
		p.tooLate(t.Args, c.chain, "use each candidate with its own `when`", "which preset to use", r.Missing)
		return
	}
	target, ok := p.findPreset(name, t, c)
	if !ok || p.circular(target, t, c) {
		return
	}
	said := len(p.Found)
	file, err := p.loadPreset(target)
	if err != nil {
		p.Errorf(t.Args.Pos(), 0, c.chain, "", "preset: %s", p.fileError(err))
		return
	}
	p.included(said, c.chain, t)
	scope.Name = p.groupName(c, t, name)
	scope.Parallel = p.parallel(t.Parallel, c)
	inside.params = &vars.Layer{Parent: inside.params, Binds: []vars.Binding{p.parameters(file, name, t, &inside)}}
	leave := p.enter(&inside, scope, name, file.File, including{path: target, preset: true}, t.Pos)
	p.planTasks(&inside, file.Tasks)
	leave()
}

// enter opens the scope of a file of steps and makes it what relative paths and origins start from.
func (p *planner) enter(c *taskContext, scope plan.Scope, label string, f *playbook.File, as including, from diag.Pos) (leave func()) {
	outer := &p.including[len(p.including)-1]
	outer.line = from.Line
	as.name = f.Name
	c.chain = append(slices.Clip(c.chain), fmt.Sprintf("%s:%d", outer.name, from.Line))
	c.scope = p.openScope(scope, label)
	c.file, c.dir, c.cwd, c.item = f, filepath.Dir(as.path), playbook.Value{}, nil
	p.including = append(p.including, as)
	return func() {
		p.including = p.including[:len(p.including)-1]
		p.closeScope(c.scope)
	}
}
