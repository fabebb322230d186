package vars

import (
	"bytes"
	"maps"
	"sync"

	"moon/plan/eval/value"
)

// NewGlobals has the facts as planning may see them. One that changes is unknown, so that it is no part of the digest.
//
// volatile gives those; nil: there are none. costly are found out when something names them.
func NewGlobals(facts map[string]any, volatile func() map[string]any, costly map[string]func() any) *Globals {
	n := &Globals{FactsMap: maps.Clone(facts), Costly: costly}
	n.Document.Now, n.Produced.Now = new(int), new(int)
	if n.FactsMap == nil {
		n.FactsMap = map[string]any{}
	}
	if volatile == nil {
		volatile = func() map[string]any { return nil }
	}
	for name := range volatile() {
		// Known while planning, they would make another plan each time.
		n.FactsMap[name] = value.Unknown{}
	}
	// Read once, when the run first asks: all steps see the same.
	n.Started = sync.OnceValue(func() map[string]any {
		all := maps.Clone(n.FactsMap)
		maps.Copy(all, volatile())
		return all
	})
	return n
}

// Own gives the names of another machine the facts of that one. What changes on this one does so there.
func (n *Globals) Own(facts, here map[string]any) {
	n.FactsMap, n.Costly = maps.Clone(facts), nil
	if n.FactsMap == nil {
		n.FactsMap = map[string]any{}
	}
	for name, v := range here {
		if _, changes := v.(value.Unknown); changes && n.FactsMap[name] != nil {
			n.FactsMap[name] = v
		}
	}
	n.Started = func() map[string]any { return facts }
}

// Measure is a fact that changes, or all facts, as it was when the run first asked.
func (n *Globals) Measure(name string) any {
	if name == "facts" {
		return n.Started()
	}
	return n.Started()[name]
}

// Gather finds out the costly facts that a file names as facts.NAME. By their own names they are found when looked up;
// the map of all facts must have them before.
func (n *Globals) Gather(text []byte) {
	for name, get := range n.Costly {
		if _, known := n.FactsMap[name]; known {
			continue
		}
		for _, form := range []string{"facts." + name, "facts['" + name + "']", `facts["` + name + `"]`} {
			if bytes.Contains(text, []byte(form)) {
				n.FactsMap[name] = get()
				break
			}
		}
	}
}
