package factcache

import (
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
	"moon/plan"
	"moon/plan/vars"
)

// Keep takes the facts from the result of a step, for the hosts that have them. It returns what could not be kept, which fails nothing.
func (c *Caches) Keep(p *plan.Plan, s *plan.Step, job *exec.Job, r exec.Result) (warnings []string) {
	scene := s.Frame.Scene
	files := p.Basis.O.Mode.FactFiles
	if files.Dir == "" || scene == nil || scene.Steps || r.Outcome != events.OK && r.Outcome != events.Changed {
		return nil
	}
	note := func(err error) {
		if err != nil {
			warnings = append(warnings, err.Error())
		}
	}
	if meta, ok := job.Args.(*spec.MetaArgs); ok {
		if meta.Do == "clear_facts" {
			note(c.of(files).clear(s.Host))
		}
		return warnings
	}
	facts := given(s, job, r)
	if len(facts) == 0 {
		return nil
	}
	for _, host := range owners(p, s, job) {
		note(c.of(files).add(host, facts))
	}
	return warnings
}

// given are the facts of a result, as Ansible keeps them.
func given(s *plan.Step, job *exec.Job, r exec.Result) map[string]any {
	facts, _ := r.Fields["ansible_facts"].(map[string]any)
	switch args := job.Args.(type) {
	case *spec.SetFactArgs:
		if !args.Cacheable {
			return nil
		}
	case *spec.SetupArgs:
		// By this both tools know that they need not gather them again with `smart`.
		if strings.HasSuffix(s.Task.Src.ActionKey, "gather_facts") && facts != nil {
			facts = maps.Clone(facts)
			facts[vars.GatheredMark] = true
		}
	}
	return facts
}

// owners are the hosts that have what a step has found: its own, all of its batch if it runs once for them, or the one that delegate_facts
// gives it to.
func owners(p *plan.Plan, s *plan.Step, job *exec.Job) []string {
	if s.Delegate != "" {
		if m := p.Basis.Machines[s.Delegate]; m != nil && hands(m, s.Index) {
			return []string{s.Delegate}
		}
	}
	if _, sets := job.Args.(*spec.SetFactArgs); sets && s.Once {
		return s.Frame.Scene.Batch
	}
	return []string{s.Host}
}

// hands reports whether planning has given what a step finds to a host.
func hands(m *vars.Machine, step int) bool {
	for _, versions := range m.Handed.Versions {
		if slices.ContainsFunc(versions, func(v vars.Version) bool { return slices.Contains(v.Steps, step) }) {
			return true
		}
	}
	return false
}
