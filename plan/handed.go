package plan

import (
	"slices"
	"strings"

	"moon/plan/eval"
	"moon/plan/playbook"
)

// Tasks may give facts of a host beside those that are gathered: package_facts, service_facts, getent, and modules of the user's. They
// count as facts do, from the task on, and are in ansible_facts too. Which they are is known of moon's own actions only.

// anyName is the name under which a module is noted whose facts have names that nobody knows.
const anyName = ""

// handOver takes down the facts that a step gives its host.
func (p *stepPlanner) handOver(s *Step, k *task, t *playbook.Task, c *scopeContext) {
	var names []string
	switch name := k.action.Name; {
	case name == "package_facts":
		names = []string{"packages"}
	case name == "service_facts":
		names = []string{"services"}
	case name == "getent":
		if k.call == nil {
			return
		}
		database := eval.Text(eval.Plain(k.call.Raw["database"]))
		if strings.Contains(database, "{{") {
			return
		}
		names = []string{"getent_" + database}
	case k.action.Plugin != nil:
		names = []string{anyName}
	}
	if len(names) == 0 || s.Excluded || s.Prediction == WillSkip {
		return
	}
	m := p.keeper(s, c)
	for _, name := range names {
		m.handed.add(&binding{name: name, from: s.Action, origin: origin(t.Pos, c.chain), how: handed, steps: []int{s.Index}, by: t})
	}
}

// relayFacts gives the facts that a task with run_once gives to all hosts it was for.
func relayFacts(cs []*scopeContext, t *playbook.Task) {
	var from []*binding
	for _, c := range cs {
		for _, versions := range c.on.handed.versions {
			for _, v := range versions {
				if v.by == t {
					from = append(from, v.binding)
				}
			}
		}
	}
	slices.SortFunc(from, func(a, b *binding) int { return a.steps[0] - b.steps[0] })
	for _, b := range from {
		for _, c := range cs {
			c.on.handed.add(b)
		}
	}
}

// hasHanded reports whether a task has given facts.
func (m *machine) hasHanded(moment int) bool {
	for name := range m.handed.versions {
		if m.handed.before(name, moment, func(*binding) bool { return true }) {
			return true
		}
	}
	return false
}

// keep has steps keep their results, which nothing registers perhaps.
func (e *env) keep(b *binding) {
	if b.how != handed || e.plan.made.facts.done {
		return
	}
	for _, step := range b.steps {
		e.plan.Steps[step].Keeps = true
	}
}

// handed takes a fact from the result of the step that gives it. A step that gave none gives way to what it hides.
func (e *env) handed(b *binding) (value any, done bool) {
	var open any
	for _, step := range slices.Backward(b.steps) {
		r, ok := e.registered(step)
		if !ok {
			open = eval.Unknown{Steps: b.steps}
			continue
		}
		if v, ok := handedOf(r, b.name); ok {
			return v, true
		}
	}
	return open, false
}

func handedOf(r map[string]any, name string) (any, bool) {
	for _, key := range []string{"ansible_facts", "facts"} {
		if facts, ok := r[key].(map[string]any); ok {
			if v, ok := factOf(facts, name); ok {
				return v, true
			}
			if v, ok := facts["ansible_"+name]; ok {
				return v, true
			}
		}
	}
	return nil, false
}

// anyHanded is a fact that a module may have given whose facts nobody knows before it runs.
func (e *env) anyHanded(m *machine, name string) (value any, ok bool) {
	var waits []int
	m.handed.before(anyName, e.frame.producedAt, func(b *binding) bool {
		if e.results == nil {
			if !e.absent(b) {
				e.keep(b)
				waits = append(waits, e.coming(b.steps)...)
			}
			return false
		}
		for _, step := range b.steps {
			if r, given := e.results.Registered(step); given {
				if value, ok = handedOf(r, name); ok {
					return true
				}
			}
		}
		return false
	})
	if len(waits) > 0 {
		slices.Sort(waits)
		return eval.Unknown{Steps: waits}, true
	}
	return value, ok
}

// mayHave finds a variable that a module may have given which is there for facts, as its name says. Names that nobody else knows would
// be mistakes otherwise.
func (m *machine) mayHave(name string, moment int, f func(*binding) bool) bool {
	if settings[name] {
		return false
	}
	return m.handed.before(anyName, moment, func(b *binding) bool {
		if !strings.HasSuffix(b.from, "_facts") {
			return false
		}
		return f(&binding{name: name, from: b.from, origin: b.origin, how: handed, steps: b.steps, by: b.by})
	})
}

// factNames are the names of all facts of a host, in ansible_facts.
func (m *machine) factNames(e *env) []string {
	all := map[string]bool{}
	for name := range m.facts {
		all[name] = true
	}
	if m.state == promised && e.results != nil && m.gatherer >= 0 {
		if r, ok := e.results.Registered(m.gatherer); ok {
			facts, _ := r["ansible_facts"].(map[string]any)
			for name := range facts {
				all[strings.TrimPrefix(name, "ansible_")] = true
			}
		}
	}
	for name := range m.handed.versions {
		m.handed.before(name, e.frame.producedAt, func(b *binding) bool {
			if name != anyName {
				all[name] = true
				return true
			}
			if e.results == nil {
				return true
			}
			for _, step := range b.steps {
				r, _ := e.results.Registered(step)
				facts, _ := r["facts"].(map[string]any)
				for name := range facts {
					all[strings.TrimPrefix(name, "ansible_")] = true
				}
			}
			return false
		})
	}
	return sortedKeys(all)
}
