package plan

import (
	"bytes"
	"maps"
	"sync"

	"moon/plan/eval"
)

// newNames has the facts as planning may see them. One that changes is unknown, so that it is no part of the digest.
func newNames(o Options) *names {
	n := &names{factsMap: maps.Clone(o.Facts), costly: o.Costly}
	n.document.now, n.produced.now = new(int), new(int)
	if n.factsMap == nil {
		n.factsMap = map[string]any{}
	}
	if o.Volatile == nil {
		o.Volatile = func() map[string]any { return nil }
	}
	for name := range o.Volatile() {
		n.factsMap[name] = eval.Unknown{}
	}
	n.started = sync.OnceValue(func() map[string]any {
		all := maps.Clone(n.factsMap)
		maps.Copy(all, o.Volatile())
		return all
	})
	return n
}

// own gives the names of another machine the facts of that one. What changes on this one does so there.
func (n *names) own(facts, here map[string]any) {
	n.factsMap, n.costly = maps.Clone(facts), nil
	if n.factsMap == nil {
		n.factsMap = map[string]any{}
	}
	for name, v := range here {
		if _, changes := v.(eval.Unknown); changes && n.factsMap[name] != nil {
			n.factsMap[name] = v
		}
	}
	n.started = func() map[string]any { return facts }
}

// measure is a fact that changes, or all facts, as it was when the run first asked.
func (n *names) measure(name string) any {
	if name == "facts" {
		return n.started()
	}
	return n.started()[name]
}

// gather finds out the costly facts that a file names as facts.NAME. By their own names they are found when looked up;
// the map of all facts must have them before.
func (n *names) gather(text []byte) {
	for name, get := range n.costly {
		if _, known := n.factsMap[name]; known {
			continue
		}
		for _, form := range []string{"facts." + name, "facts['" + name + "']", `facts["` + name + `"]`} {
			if bytes.Contains(text, []byte(form)) {
				n.factsMap[name] = get()
				break
			}
		}
	}
}
