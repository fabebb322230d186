package relay

import (
	"math"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// Once gives what a task with run_once sets to all hosts it was for: its host is known only in the run, because the first may have failed
// by then.
func Once(on []*vars.Machine, t *playbook.Task) {
	names := map[string][]*vars.Binding{}
	var order []string
	for _, m := range on {
		for name, versions := range m.Names.Produced.Versions {
			last := versions[len(versions)-1]
			// The last version may be of an earlier task: this one may have been skipped or excluded on that host.
			if last.By != t {
				continue
			}
			if names[name] == nil {
				order = append(order, name)
			}
			names[name] = append(names[name], last.Binding)
		}
	}
	// The names come from a map, and the same files must give the same plan.
	slices.Sort(order)
	for _, name := range order {
		from := names[name]
		var steps []int
		for _, b := range from {
			steps = append(steps, b.Steps...)
		}
		slices.Sort(steps)
		all := &vars.Binding{
			Name: name, From: from[0].From, Origin: from[0].Origin, How: vars.Relayed, Relay: from,
			Steps: slices.Compact(steps), By: t,
		}
		if len(all.Steps) == 0 { // none of them runs
			continue
		}
		if from[0].Early {
			all.Early, all.Value = true, from[0].Value
		}
		for _, m := range on {
			m.Names.Produced.Add(all)
		}
	}
	handFacts(on, t)
}

// handFacts gives the facts that the task gives to all of its hosts.
func handFacts(on []*vars.Machine, t *playbook.Task) {
	var from []*vars.Binding
	for _, m := range on {
		for _, versions := range m.Handed.Versions {
			for _, v := range versions {
				if v.By == t {
					from = append(from, v.Binding)
				}
			}
		}
	}
	slices.SortFunc(from, func(a, b *vars.Binding) int { return a.Steps[0] - b.Steps[0] })
	for _, b := range from {
		for _, m := range on {
			m.Handed.Add(b)
		}
	}
}

// Broken makes known what failed in a block, in its rescue and after it: on each host one of its own steps. They end before until.
func Broken(p *plan.Plan, on []*vars.Machine, block, until int, from diag.Origin) {
	steps := map[string][]int{}
	for i := p.Scopes[block].First; i < until; i++ {
		s := &p.Steps[i]
		steps[s.Host] = append(steps[s.Host], i)
		s.Keeps = s.Keeps || s.Loop != nil // of a loop that fails a rescue of a play sees all rounds, also if nothing registers them
	}
	for _, m := range on {
		for _, name := range slices.Concat(vars.FailedTaskNames, vars.FailedResultNames) {
			m.Names.Produced.Add(&vars.Binding{Name: name, From: "rescue", Origin: from, How: vars.BrokenOnHost, Steps: steps[m.Name]})
		}
	}
}

// Own lets a host see its own result of a task under the name that is that of all results elsewhere.
func Own(m *vars.Machine, t *playbook.Task) {
	if t.Register == "" {
		return
	}
	m.Names.Produced.Before(t.Register, math.MaxInt, func(b *vars.Binding) bool {
		if b.By == t {
			m.Names.Produced.Add(b)
		}
		return true
	})
}

// FactNames are the facts that a step gives its host, as its action and arguments name them; vars.AnyName if only the run knows them.
func FactNames(k *plan.Task, delegated bool) []string {
	switch k.Action.Name {
	case "package_facts":
		return []string{"packages"}
	case "service_facts":
		return []string{"services"}
	case "set_fact":
		return cachedNames(k)
	case "setup": // earlier tasks may have put into that place what it finds
		if delegated {
			return []string{vars.AnyName}
		}
		if _, given := plan.ValueOf(k.Args, "fact_path"); given {
			return []string{"ansible_local"}
		}
	case "getent":
		written, _ := plan.ValueOf(k.Args, "database")
		switch {
		case !plan.TemplatedIn(written):
			return []string{"getent_" + written.Text()}
		case k.Known == nil: // also where only its condition is open
			return []string{vars.AnyName}
		}
		return []string{"getent_" + value.Text(value.Plain(k.Known.Raw["database"]))}
	}
	switch plugin := k.Action.Plugin; {
	case plugin == nil:
	case plugin.Looks:
		return []string{plugin.Fact()}
	case !plugin.NeedsPython() || plugin.GivesFacts:
		return []string{vars.AnyName}
	}
	return nil
}

// cachedNames are the names that a set_fact with cacheable sets, which are facts, too.
func cachedNames(k *plan.Task) (names []string) {
	v, _ := plan.ValueOf(k.Args, "cacheable")
	if !slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(v.Text())) {
		return nil
	}
	for _, g := range k.Args {
		if g.Name != "cacheable" {
			names = append(names, g.Name)
		}
	}
	return names
}
