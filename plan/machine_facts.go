package plan

import (
	"slices"
	"strings"

	"moon/plan/eval"
)

// What a plan uses of the facts of a host is taken down while it is made, because a saved plan keeps that much of them and no more.

// used notes that a plan depends on a fact of the host.
func (m *machine) used(fact string) {
	if m.use.done {
		return
	}
	if m.read == nil {
		m.read = map[string]bool{}
	}
	m.read[fact] = true
}

// whole notes that all facts are used at once, or all of the environment.
func (m *machine) whole() {
	if !m.use.done && m.use.whole.Line == 0 {
		m.use.whole = m.use.at
	}
}

// factsOf is the variable ansible_facts.
type factsOf struct {
	m *machine
	e *env // that asks
}

// Known are the keys, for a person who has misspelt one.
func (f factsOf) Known() []string { return f.m.factNames(f.e) }

// Keys implements eval.Object.
func (f factsOf) Keys() []string {
	f.m.whole()
	return f.m.factNames(f.e)
}

// Get implements eval.Object.
func (f factsOf) Get(key string) (value any, ok bool) {
	var waits []int
	take := func(b *binding) bool {
		switch {
		case b.how != promisedFact && b.how != handed:
			value = b.value
		case f.e.absent(b) && !f.e.hasResult(b):
			if b.how == promisedFact {
				value = f.e.notGiven(b.steps)
			}
			return b.how != handed
		case f.e.results == nil:
			f.e.keep(b)
			waits = append(waits, f.e.coming(b.steps)...)
			return b.how != handed // which may not happen
		default:
			var done bool
			value, done = f.e.produce(b)
			return done || b.how != handed
		}
		return true
	}
	at := f.e.frame.producedAt
	ok = f.m.handed.before(key, at, take) || f.m.fact("ansible_"+strings.TrimPrefix(key, "ansible_"), at, take)
	switch {
	case len(waits) > 0:
		slices.Sort(waits)
		return eval.Unknown{Steps: waits}, true
	case !ok:
		return f.e.anyHanded(f.m, key)
	}
	return value, ok
}

// envOf is the variable ansible_env. It may hold what is nobody's business.
type envOf struct{ m *machine }

func (e envOf) all() map[string]any {
	env, _ := e.m.facts["env"].(map[string]any)
	return env
}

// Known are the keys, for a person who has misspelt one.
func (e envOf) Known() []string { return sortedKeys(e.all()) }

// Keys implements eval.Object.
func (e envOf) Keys() []string {
	e.m.whole()
	return sortedKeys(e.all())
}

// Get implements eval.Object.
func (e envOf) Get(key string) (any, bool) {
	if u := e.m.use; !u.done {
		if e.m.env == nil {
			e.m.env = map[string]bool{}
		}
		e.m.env[key] = e.m.env[key] || !u.hiding
	}
	v, ok := e.all()[key]
	return v, ok
}

// wholeFacts is the map that a value of facts stands for, if it is one.
func wholeFacts(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case factsOf:
		return v.m.facts, true
	case envOf:
		return v.all(), true
	}
	return nil, false
}

// factOf finds a fact in what a step has gathered, by the name it has as a variable.
func factOf(facts map[string]any, name string) (any, bool) {
	if v, ok := facts[name]; ok {
		return v, true
	}
	v, ok := facts[strings.TrimPrefix(name, "ansible_")]
	return v, ok
}

// shortNames gives gathered facts the names that they have in ansible_facts.
func shortNames(facts map[string]any) map[string]any {
	short := make(map[string]any, len(facts))
	for name, v := range facts {
		short[strings.TrimPrefix(name, "ansible_")] = v
	}
	return short
}

// mentioned notes the facts that a text names, also where nothing reads them while planning: a condition before them may be open.
func (u *factUse) mentioned(fr *frame, ref eval.Ref) {
	m := fr.all.of
	short, ok := strings.CutPrefix(ref.Name, "ansible_")
	if m == nil || !ok || m.state != gathered {
		return
	}
	path := ref.Path
	if short == "facts" {
		if short, path, ok = step(path); !ok {
			return // who takes all of them asks for the keys
		}
	}
	if _, ok := m.facts[short]; !ok {
		return
	}
	m.used(short)
	if variable, _, ok := step(path); ok && short == "env" {
		envOf{m}.Get(variable)
	}
}

// keepGathered lets the steps keep what they find whose facts change and are used: those are taken from the run.
func (p *fleet) keepGathered() {
	for _, m := range p.machines {
		if m.keeps && m.gatherer >= 0 {
			p.plan.Steps[m.gatherer].Keeps = true
		}
	}
	p.facts.done = true
}

// usedFacts are the facts of the host that planning has used, without those that change. hidden is a variable of the environment
// that only steps with no_log use, whose value is kept nowhere.
func (m *machine) usedFacts() (facts map[string]any, hidden string) {
	facts = map[string]any{}
	for name := range m.read {
		v, ok := m.facts[name]
		switch {
		case !ok:
		case name == "env":
			env := map[string]any{}
			for _, variable := range sortedKeys(m.env) {
				v, ok := envOf{m}.all()[variable]
				if ok && !m.env[variable] {
					hidden = variable
				} else if ok {
					env[variable] = v
				}
			}
			facts[name] = env
		case changing[name]:
			facts[name] = nil // it is there, and that is all that is known
		default:
			facts[name] = v
		}
	}
	return facts, hidden
}

// gatheredHosts are the names of the hosts whose facts are known.
func (m *made) gatheredHosts() []string {
	var list []string
	for name, host := range m.machines {
		if host.state == gathered {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// usedToo adds the facts that another plan of the same hosts has used: the one that says which steps there are to select.
func (p *fleet) usedToo(other *planner) {
	for name, was := range other.machines {
		m, ok := p.machines[name]
		if !ok {
			continue
		}
		for fact := range was.read {
			if m.read == nil {
				m.read = map[string]bool{}
			}
			m.read[fact] = true
		}
		for variable, shown := range was.env {
			if m.env == nil {
				m.env = map[string]bool{}
			}
			m.env[variable] = m.env[variable] || shown
		}
	}
}
