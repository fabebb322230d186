package vars

import (
	"maps"
	"math"
	"slices"
	"strings"

	"moon/plan/eval/value"
)

// PromisedOf takes a fact from the result of the step that has gathered it.
func PromisedOf(r map[string]any, name string) (value any, known bool) {
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

// AnyName is the name under which a module is noted whose facts have names that nobody knows, and a step that may set any name.
const AnyName = ""

// Gathered is where facts come from that are gathered from one host for another.
const Gathered = "gather_facts"

// hasHanded reports whether a task has given facts.
func (m *Machine) hasHanded(moment int) bool {
	for name := range m.Handed.Versions {
		if m.Handed.Before(name, moment, func(*Binding) bool { return true }) {
			return true
		}
	}
	return false
}

// HandedOf takes a fact from the result of a task that may have given it.
func HandedOf(r map[string]any, name string) (any, bool) {
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
func (m *Machine) mayHave(name string, moment int, f func(*Binding) bool) bool {
	// Settings of the connection are asked for before a task can run there, so no task gives them.
	if settings[name] || m.Apart {
		return false
	}
	return m.Handed.Before(AnyName, moment, func(b *Binding) bool {
		if !strings.HasSuffix(b.From, "_facts") && !b.GivesFacts || b.From == Gathered && !strings.HasPrefix(name, "ansible_") {
			return false
		}
		return f(&Binding{Name: name, From: b.From, Origin: b.Origin, How: Handed, Steps: b.Steps, By: b.By})
	})
}

// FactNames are the names of all facts of a host at a moment, in ansible_facts. result gives what a step has given; nil while planning.
func (m *Machine) FactNames(moment int, result func(step int) (map[string]any, bool)) []string {
	all := map[string]bool{}
	for name := range m.Facts {
		all[name] = true
	}
	if m.State == FactsPromised && result != nil && m.Gatherer >= 0 {
		if r, ok := result(m.Gatherer); ok {
			facts, _ := r["ansible_facts"].(map[string]any)
			for name := range facts {
				all[strings.TrimPrefix(name, "ansible_")] = true
			}
		}
	}
	for name := range m.Handed.Versions {
		m.Handed.Before(name, moment, func(b *Binding) bool {
			if name != AnyName {
				all[name] = true
				return true
			}
			if result == nil {
				return true
			}
			for _, step := range b.Steps {
				r, _ := result(step)
				for _, key := range []string{"ansible_facts", "facts"} {
					facts, _ := r[key].(map[string]any)
					for name := range facts {
						all[strings.TrimPrefix(name, "ansible_")] = true
					}
				}
			}
			return false
		})
	}
	for _, name := range m.storedNames(moment) {
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// changing are facts that are another thing every time. They are unknown until the run starts.
var changing = map[string]bool{
	"date_time": true, "memfree_mb": true, "memory_mb": true, "uptime_seconds": true, "loadavg": true, "swapfree_mb": true,
}

// Fact finds a fact by the name it has as a variable. Before anybody has gathered them there are none.
func (m *Machine) Fact(name string, moment int, f func(*Binding) bool) bool {
	// What tasks have given counts above what was gathered, and that above what earlier runs have kept.
	return m.Handed.Before(name, moment, f) || m.gatheredFact(name, moment, f) || m.storedFact(name, moment, f)
}

func (m *Machine) gatheredFact(name string, moment int, f func(*Binding) bool) bool {
	short, ok := strings.CutPrefix(name, "ansible_")
	if !ok {
		return false
	}
	if name == "ansible_facts" && m.hasHanded(moment) {
		return f(&Binding{Name: name, Value: FactsOf{m}, From: "facts"})
	}
	// As with Ansible, facts count from the task on that gathers them.
	if moment < m.Since {
		return false
	}
	switch {
	case m.State == FactsPromised && !settings[name]:
		// Whether there is such a fact is known only when it has been gathered.
		return f(&Binding{Name: name, From: "fact", How: PromisedFact, Steps: m.gatherers()})
	case m.State != FactsKnown:
		return false
	case name == "ansible_facts":
		return f(&Binding{Name: name, Value: FactsOf{m}, From: "facts"})
	}
	v, ok := m.Facts[short]
	if !ok {
		return false
	}
	m.used(short)
	switch {
	case changing[short]:
		// The value of now is of no use: that in the result of the gathering counts, so it is kept.
		m.Keeps = true
		return f(&Binding{Name: name, From: "fact", How: PromisedFact, Steps: m.gatherers()})
	case short == "env":
		v = EnvOf{Host: m}
	}
	return f(&Binding{Name: name, Value: v, From: "fact"})
}

// promises finds a fact of moon's own that a step of the run will give.
func (m *Machine) promises(name string, f func(*Binding) bool) bool {
	if !m.Away || m.State != FactsPromised || !ownFacts[name] {
		return false
	}
	return f(&Binding{Name: name, From: "fact", How: PromisedFact, Steps: m.gatherers()})
}

// ownFacts are the names of facts that are no names of Ansible's.
var ownFacts = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`os arch hostname username home distribution distribution_version distribution_major os_family 
		kernel_version cpu_cores memory_total_mb memory_free_mb package_manager ip_addresses default_ipv4 python_version date_time env pid1
		linux darwin windows facts`) {
		ownFacts[name] = true
	}
	for name := range strings.FieldsSeq("apt dnf yum zypper pacman apk xbps emerge brew port nix") {
		ownFacts[name+"_available"] = true
	}
}

// gatherers are the steps that give facts, as far as there is one.
func (m *Machine) gatherers() []int {
	if m.Gatherer < 0 {
		return nil
	}
	return []int{m.Gatherer}
}

// InventoryFor are the variables that the inventory has for a host in the plays of a scene, at the moment of a frame.
func (m *Machine) InventoryFor(fr *Frame) *Layer {
	layers := m.Inventory
	for i := range m.Earlier { // in the order of the changes, as in pastOf
		if fr.ProducedAt < m.Earlier[i].Before {
			layers = m.Earlier[i].Layers
			break
		}
	}
	switch {
	case len(layers) == 0: // no inventory has it
		return nil
	case fr.Scene == nil:
		return layers[0]
	}
	return layers[fr.Scene.Beside]
}

// Regroup gives a host the variables that its groups have from a moment on. What was planned before keeps those it had.
func (m *Machine) Regroup(moment int, layers []*Layer) {
	m.Earlier = append(m.Earlier, EarlierInventory{moment, m.Inventory})
	m.Inventory = layers
}

// What a plan uses of the facts of a host is taken down while it is made, because a saved plan keeps that much of them and no more.

// used notes that a plan depends on a fact of the host.
func (m *Machine) used(fact string) {
	// A plan is saved with what it used while it was made; what the run uses comes too late.
	if m.Use.Done {
		return
	}
	if m.Read == nil {
		m.Read = map[string]bool{}
	}
	m.Read[fact] = true
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

// Hides reports whether the facts of the host are cleared at a moment.
func (m *Machine) Hides(moment int) bool {
	for _, h := range m.Hidden {
		// MaxInt stands for what comes after all that is planned so far.
		if moment >= h.From && moment < h.Until || moment == math.MaxInt && h.Until == math.MaxInt {
			return true
		}
	}
	return false
}

// UseWhole notes that all facts are used at once, or all of the environment.
func (m *Machine) UseWhole() {
	if !m.Use.Done && m.Use.Whole.Line == 0 {
		m.Use.Whole = m.Use.At
	}
}

// All are the variables of the environment.
func (e EnvOf) All() map[string]any {
	if e.Stored {
		env, _ := e.Host.Stored["ansible_env"].(map[string]any)
		return env
	}
	env, _ := e.Host.Facts["env"].(map[string]any)
	return env
}

// Known are the keys, for a person who has misspelt one.
func (e EnvOf) Known() []string { return slices.Sorted(maps.Keys(e.All())) }

// Keys implements eval.Object.
func (e EnvOf) Keys() []string {
	e.Host.UseWhole()
	return slices.Sorted(maps.Keys(e.All()))
}

// Get implements eval.Object.
func (e EnvOf) Get(key string) (any, bool) {
	if u := e.Host.Use; !u.Done {
		if e.Host.Env == nil {
			e.Host.Env = map[string]bool{}
		}
		// One use in the open is enough: then its value shows in the plan anyway.
		e.Host.Env[key] = e.Host.Env[key] || !u.Hiding
	}
	v, ok := e.All()[key]
	return v, ok
}

// UsedFacts are the facts of the host that planning has used, without those that change. hidden is a variable of the environment
// that only steps with no_log use, whose value is kept nowhere.
func (m *Machine) UsedFacts() (facts map[string]any, hidden string) {
	facts = map[string]any{}
	for name := range m.Read {
		v, ok := m.Facts[name]
		switch {
		case !ok:
		case name == "env":
			facts[name], hidden = EnvOf{Host: m}.used()
		case changing[name]:
			facts[name] = nil // it is there, and that is all that is known
		default:
			facts[name] = v
		}
	}
	if own := m.usedOwn(); len(own) > 0 {
		facts[OwnFacts] = own
	}
	return facts, hidden
}

// used are the variables of the environment that planning has used in the open, and one of those that only steps with no_log use.
func (e EnvOf) used() (env map[string]any, hidden string) {
	env = map[string]any{}
	for _, variable := range slices.Sorted(maps.Keys(e.Host.Env)) {
		v, ok := e.All()[variable]
		if ok && !e.Host.Env[variable] {
			hidden = variable
		} else if ok {
			env[variable] = v
		}
	}
	return env, hidden
}

// OwnFacts is the name under which the facts of another machine are kept that have moon's own names.
const OwnFacts = "moon_facts"

// usedOwn are those of another machine that planning has used. The environment is not among them: it may hold anything.
func (m *Machine) usedOwn() map[string]any {
	own := map[string]any{}
	if !m.Away {
		return own
	}
	for name := range m.Use.Names {
		v, ok := m.Names.FactsMap[name]
		if _, changes := v.(value.Unknown); ok && !changes && name != "env" {
			own[name] = v
		}
	}
	return own
}

// UseToo adds the facts that planning has used of the same host in another plan.
func (m *Machine) UseToo(was *Machine) {
	for fact := range was.Read {
		if m.Read == nil {
			m.Read = map[string]bool{}
		}
		m.Read[fact] = true
	}
	for variable, shown := range was.Env {
		if m.Env == nil {
			m.Env = map[string]bool{}
		}
		m.Env[variable] = m.Env[variable] || shown
	}
	for name := range was.ReadStored {
		m.usedStored(name)
	}
}

// Facts may be kept from run to run, as Ansible's fact cache does it. They are there from the beginning, below what the run gathers, until
// meta: clear_facts. A saved plan keeps those that planning has used, as of gathered ones.

// GatheredMark is the name under which is kept that the facts are those of a whole gathering. It is not a variable.
const GatheredMark = "_ansible_facts_gathered"

// forgets reports whether the facts of earlier runs are cleared at a moment. Unlike those of this run they do not come back.
func (m *Machine) forgets(moment int) bool {
	return len(m.Stored) == 0 || len(m.Hidden) > 0 && moment >= m.Hidden[0].From
}

// storedFact finds a fact of an earlier run by the name it has as a variable.
func (m *Machine) storedFact(name string, moment int, f func(*Binding) bool) bool {
	if m.forgets(moment) {
		return false
	}
	if name == "ansible_facts" {
		return f(&Binding{Name: name, Value: FactsOf{m}, From: "facts"})
	}
	v, ok := m.Stored[name]
	// As with Ansible, no cache says how a host is reached.
	if !ok || strings.HasPrefix(name, "_ansible_") || settings[name] {
		return false
	}
	m.usedStored(name)
	if name == "ansible_env" {
		v = EnvOf{Host: m, Stored: true}
	}
	return f(&Binding{Name: name, Value: v, From: "fact"})
}

// Variable finds a fact that is a variable of its own, which only two are if facts are kept apart.
func (m *Machine) Variable(name string, moment int, f func(*Binding) bool) bool {
	if m.Apart && name != "ansible_facts" && name != "ansible_local" {
		return false
	}
	return m.Fact(name, moment, f)
}

// InFacts finds a fact by its name in ansible_facts. There those of earlier runs that set_fact and modules gave have their own names.
func (m *Machine) InFacts(key string, moment int, f func(*Binding) bool) bool {
	own := "ansible_" + strings.TrimPrefix(key, "ansible_")
	return m.Handed.Before(key, moment, f) || m.Fact(own, moment, f) || m.storedFact(key, moment, f)
}

// storedNames are the names in ansible_facts of what earlier runs have kept.
func (m *Machine) storedNames(moment int) (names []string) {
	if m.forgets(moment) {
		return nil
	}
	for name := range m.Stored {
		if !strings.HasPrefix(name, "_ansible_") {
			names = append(names, strings.TrimPrefix(name, "ansible_"))
		}
	}
	return names
}

// IsGathered reports whether the facts of the host have been gathered and are still there, after all that is planned so far, in this run
// or in an earlier one.
func (m *Machine) IsGathered() bool {
	if m.Gathered && !m.Hides(math.MaxInt) {
		return true
	}
	if m.forgets(math.MaxInt) {
		return false
	}
	// Asked for is used: the plan has no step that gathers.
	marked, _ := m.Stored[GatheredMark].(bool)
	if marked {
		m.usedStored(GatheredMark)
	}
	return marked
}

// Gathers notes that a step gathers the facts of the host, and reports whether it is the first. key is what the task calls its action:
// setup does not count as Ansible's own gathering.
func (m *Machine) Gathers(step int, key string) (first bool) {
	m.Gathered = m.Gathered || strings.HasSuffix(key, "gather_facts")
	if m.Gatherer >= 0 {
		return false
	}
	m.Gatherer = step
	return true
}

// usedStored notes that a plan depends on a fact of an earlier run.
func (m *Machine) usedStored(name string) {
	if m.Use.Done {
		return
	}
	if m.ReadStored == nil {
		m.ReadStored = map[string]bool{}
	}
	m.ReadStored[name] = true
}

// UsedStored are the facts of earlier runs that planning has used. hidden is as of UsedFacts.
func (m *Machine) UsedStored() (facts map[string]any, hidden string) {
	facts = map[string]any{}
	for name := range m.ReadStored {
		if name == "ansible_env" {
			facts[name], hidden = EnvOf{Host: m, Stored: true}.used()
		} else if v, ok := m.Stored[name]; ok {
			facts[name] = v
		}
	}
	return facts, hidden
}
