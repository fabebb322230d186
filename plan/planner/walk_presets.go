package planner

import (
	"path/filepath"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner/library"
	"moon/plan/planner/preset"
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
		p.CloseScope(p.OpenScope(scope, scope.Name))
		return
	}
	inside := *c
	if t.StepVars.Kind() == playbook.Map {
		inside.params = p.bindings.Layer(t.StepVars.Entries(), c.params, p.frame(c, nil),
			func(fr *vars.Frame, l *vars.Layer) { fr.Params = l },
			"preset vars", c.chain, false)
	}
	r := p.Renderer(p.env(&inside, nil), c.chain)
	name := strings.TrimSpace(r.Text(t.Args))
	if r.Failed {
		return
	}
	place := ""
	if len(r.Missing) > 0 {
		step, ok := len(p.plan.Steps), false
		name, ok = p.findName(&inside, t, "which preset to use", "use each candidate with its own `when`", r.Missing)
		if !ok {
			return
		}
		place = p.placeLabel(c, &p.plan.Steps[step], c.scope)
	}
	target, ok := p.FindPreset(name, t, c.dir, c.chain)
	if !ok || p.RefuseCircle(target, t, c.chain) {
		return
	}
	said := len(p.Found)
	file, err := p.LoadPreset(target)
	if err != nil {
		p.ReportUnread("preset", t.Args, target, err, c.chain)
		return
	}
	p.TraceInclude(said, c.chain, t)
	scope.Name = p.groupName(c, t, name)
	scope.Parallel, scope.Approves = p.ReadParallel(t.Parallel, p.rendererAt(c)), t.Approves
	if c.play == nil { // in a play it is for each task inside
		p.ReadDuration(t.Timeout, "timeout", p.Renderer(p.env(c, nil), c.chain), &scope.Timeout)
	}
	given := preset.Parameters(file, name, t, preset.Site{
		Problems: p.Collector, Secrets: p.secrets, Chain: c.chain, File: p.Current(),
		Render: func(chain []string) *plan.Renderer { return p.Renderer(p.env(&inside, nil), chain) },
	})
	inside.params = &vars.Layer{Parent: inside.params, Binds: []vars.Binding{given}}
	leave := p.enter(&inside, scope, place+name, file.File, library.Opened{Path: target, Preset: true}, t.Pos)
	p.defineHandlers(&inside, file.Handlers)
	p.planTasks(&inside, file.Tasks)
	if exported := preset.Exported(file, name, t, p.Collector, c.chain); exported != nil {
		p.planVars(&inside, exported)
	}
	leave()
}

// enter opens the scope of a file of steps and makes it what relative paths and origins start from.
func (p *planner) enter(c *taskContext, scope plan.Scope, label string, f *playbook.File, as library.Opened, from diag.Pos) (leave func()) {
	c.chain = append(slices.Clip(c.chain), p.Enter(as, f.Name, from.Line))
	c.scope = p.OpenScope(scope, label)
	c.file, c.dir, c.cwd, c.item, c.within = f, filepath.Dir(as.Path), playbook.Value{}, nil, c.scope
	if c.scene != nil && c.scene.Steps {
		c.scene = p.sceneIn(c.scene, c.dir)
	}
	return func() {
		p.Leave()
		p.CloseScope(c.scope)
	}
}
