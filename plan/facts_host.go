package plan

import (
	"math"
	"slices"
	"strings"
)

// promisedOf takes a fact from the result of the step that has gathered it.
func promisedOf(r map[string]any, name string) (value any, known bool) {
	own, _ := r["moon_facts"].(map[string]any)
	facts, _ := r["ansible_facts"].(map[string]any)
	switch {
	case name == "facts":
		return own, own != nil
	case name == "ansible_facts":
		return shortNames(facts), true
	case ownFacts[name]:
		value, known = own[name]
	default:
		value, known = factOf(facts, name)
	}
	return value, known
}

// Tasks may give facts of a host beside those that are gathered: package_facts, service_facts, getent, and modules of the user's. They
// count as facts do, from the task on, and are in ansible_facts too. Which they are is known of moon's own actions only.

// anyName is the name under which a module is noted whose facts have names that nobody knows.
const anyName = ""

// hasHanded reports whether a task has given facts.
func (m *plannedHost) hasHanded(moment int) bool {
	for name := range m.handed.versions {
		if m.handed.before(name, moment, func(*binding) bool { return true }) {
			return true
		}
	}
	return false
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

// mayHave finds a variable that a module may have given which is there for facts, as its name says. Names that nobody else knows would
// be mistakes otherwise.
func (m *plannedHost) mayHave(name string, moment int, f func(*binding) bool) bool {
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
func (m *plannedHost) factNames(e *env) []string {
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

// changing are facts that are another thing every time. They are unknown until the run starts.
var changing = map[string]bool{
	"date_time": true, "memfree_mb": true, "memory_mb": true, "uptime_seconds": true, "loadavg": true, "swapfree_mb": true,
}

// fact finds a fact by the name it has as a variable. Before anybody has gathered them there are none.
func (m *plannedHost) fact(name string, moment int, f func(*binding) bool) bool {
	if m.handed.before(name, moment, f) {
		return true
	}
	short, ok := strings.CutPrefix(name, "ansible_")
	if !ok {
		return false
	}
	if name == "ansible_facts" && m.hasHanded(moment) {
		return f(&binding{name: name, value: factsOf{m: m}, from: "facts"})
	}
	if moment < m.since {
		return false
	}
	switch {
	case m.state == promised && !settings[name]:
		return f(&binding{name: name, from: "fact", how: promisedFact, steps: m.gatherers()})
	case m.state != gathered:
		return false
	case name == "ansible_facts":
		return f(&binding{name: name, value: factsOf{m: m}, from: "facts"})
	}
	v, ok := m.facts[short]
	if !ok {
		return false
	}
	m.used(short)
	switch {
	case changing[short]:
		m.keeps = true
		return f(&binding{name: name, from: "fact", how: promisedFact, steps: m.gatherers()})
	case short == "env":
		v = envOf{m}
	}
	return f(&binding{name: name, value: v, from: "fact"})
}

// promises finds a fact of moon's own that a step of the run will give.
func (m *plannedHost) promises(name string, f func(*binding) bool) bool {
	if !m.away || m.state != promised || !ownFacts[name] {
		return false
	}
	return f(&binding{name: name, from: "fact", how: promisedFact, steps: m.gatherers()})
}

// ownFacts are the names of facts that are no names of Ansible's.
var ownFacts = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`os arch hostname username home distribution distribution_version distribution_major os_family kernel_version
		cpu_cores memory_total_mb memory_free_mb package_manager ip_addresses default_ipv4 python_version date_time env pid1 linux darwin windows facts`) {
		ownFacts[name] = true
	}
	for name := range strings.FieldsSeq("apt dnf yum zypper pacman apk xbps emerge brew port nix") {
		ownFacts[name+"_available"] = true
	}
}

// gatherers are the steps that give facts, as far as there is one.
func (m *plannedHost) gatherers() []int {
	if m.gatherer < 0 {
		return nil
	}
	return []int{m.gatherer}
}

// inventoryFor are the variables that the inventory has for a host in the plays of a scene.
func (m *plannedHost) inventoryFor(sc *hostScope) *layer {
	switch {
	case len(m.inventory) == 0: // no inventory has it
		return nil
	case sc == nil:
		return m.inventory[0]
	}
	return m.inventory[sc.beside]
}

// What a plan uses of the facts of a host is taken down while it is made, because a saved plan keeps that much of them and no more.

// used notes that a plan depends on a fact of the host.
func (m *plannedHost) used(fact string) {
	if m.use.done {
		return
	}
	if m.read == nil {
		m.read = map[string]bool{}
	}
	m.read[fact] = true
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

// gatheredHosts are the names of the hosts whose facts are known.
func (m *planInputs) gatheredHosts() []string {
	var list []string
	for name, host := range m.machines {
		if host.state == gathered {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// hides reports whether the facts of the host are cleared at a moment.
func (m *plannedHost) hides(moment int) bool {
	for _, h := range m.hidden {
		if moment >= h.from && moment < h.until || moment == math.MaxInt && h.until == math.MaxInt {
			return true
		}
	}
	return false
}
