package plan

import (
	"slices"

	"moon/plan/eval/value"
	"moon/plan/vars"
)

// factsOf is the variable ansible_facts.
type factsOf struct {
	m *vars.Machine
	e *Env // that asks
}

// names are the names of all facts that there are.
func (f factsOf) names() []string {
	if f.e.Results == nil {
		return f.m.FactNames(f.e.Frame.ProducedAt, nil)
	}
	return f.m.FactNames(f.e.Frame.ProducedAt, f.e.Results.Registered)
}

// Known are the keys, for a person who has misspelt one.
func (f factsOf) Known() []string { return f.names() }

// Keys implements value.Object.
func (f factsOf) Keys() []string {
	// Which of them count is not to be seen any more, so all of them do.
	f.m.UseWhole()
	return f.names()
}

// Get implements value.Object.
func (f factsOf) Get(key string) (val any, ok bool) {
	if key == "local" { // Ansible has it here as ansible_local only
		return nil, false
	}
	var waits []int
	take := func(b *vars.Binding) bool {
		switch {
		case b.How != vars.PromisedFact && b.How != vars.Handed:
			val = b.Value
		case f.e.absent(b) && !f.e.hasResult(b):
			if b.How == vars.PromisedFact {
				val = f.e.notGiven(b.Steps)
			}
			return b.How != vars.Handed
		case f.e.Results == nil:
			// Nothing may register this result: it is kept for the use here.
			f.e.keep(b)
			waits = append(waits, f.e.Coming(b.Steps)...)
			return b.How != vars.Handed // which may not happen
		default:
			var done bool
			val, done = f.e.produce(b)
			return done || b.How != vars.Handed
		}
		return true
	}
	ok = f.m.InFacts(key, f.e.Frame.ProducedAt, take)
	switch {
	case len(waits) > 0:
		slices.Sort(waits)
		return value.Unknown{Steps: waits}, true
	case !ok:
		// A module may have given it whose facts have names that only the run knows.
		return f.e.anyHanded(f.m, key)
	}
	return val, ok
}

// WholeFacts is the map that a value of facts stands for, if it is one.
func WholeFacts(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case factsOf:
		return v.m.Facts, true
	case vars.FactsOf:
		return v.Host.Facts, true
	case vars.EnvOf:
		return v.All(), true
	}
	return nil, false
}
