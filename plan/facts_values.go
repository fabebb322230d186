package plan

import (
	"slices"
	"strings"

	"moon/plan/eval"
)

// whole notes that all facts are used at once, or all of the environment.
func (m *PlannedHost) whole() {
	if !m.Use.Done && m.Use.Whole.Line == 0 {
		m.Use.Whole = m.Use.At
	}
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
	take := func(b *Binding) bool {
		switch {
		case b.How != promisedFact && b.How != Handed:
			value = b.Value
		case f.e.absent(b) && !f.e.hasResult(b):
			if b.How == promisedFact {
				value = f.e.notGiven(b.Steps)
			}
			return b.How != Handed
		case f.e.Results == nil:
			f.e.keep(b)
			waits = append(waits, f.e.Coming(b.Steps)...)
			return b.How != Handed // which may not happen
		default:
			var done bool
			value, done = f.e.produce(b)
			return done || b.How != Handed
		}
		return true
	}
	at := f.e.Frame.ProducedAt
	ok = f.m.Handed.before(key, at, take) || f.m.fact("ansible_"+strings.TrimPrefix(key, "ansible_"), at, take)
	switch {
	case len(waits) > 0:
		slices.Sort(waits)
		return eval.Unknown{Steps: waits}, true
	case !ok:
		return f.e.anyHanded(f.m, key)
	}
	return value, ok
}

func (e envOf) all() map[string]any {
	env, _ := e.m.Facts["env"].(map[string]any)
	return env
}

// Known are the keys, for a person who has misspelt one.
func (e envOf) Known() []string { return SortedKeys(e.all()) }

// Keys implements eval.Object.
func (e envOf) Keys() []string {
	e.m.whole()
	return SortedKeys(e.all())
}

// Get implements eval.Object.
func (e envOf) Get(key string) (any, bool) {
	if u := e.m.Use; !u.Done {
		if e.m.Env == nil {
			e.m.Env = map[string]bool{}
		}
		e.m.Env[key] = e.m.Env[key] || !u.Hiding
	}
	v, ok := e.all()[key]
	return v, ok
}

// WholeFacts is the map that a value of facts stands for, if it is one.
func WholeFacts(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case factsOf:
		return v.m.Facts, true
	case envOf:
		return v.all(), true
	}
	return nil, false
}

// UsedFacts are the facts of the host that planning has used, without those that change. hidden is a variable of the environment
// that only steps with no_log use, whose value is kept nowhere.
func (m *PlannedHost) UsedFacts() (facts map[string]any, hidden string) {
	facts = map[string]any{}
	for name := range m.Read {
		v, ok := m.Facts[name]
		switch {
		case !ok:
		case name == "env":
			env := map[string]any{}
			for _, variable := range SortedKeys(m.Env) {
				v, ok := envOf{m}.all()[variable]
				if ok && !m.Env[variable] {
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
