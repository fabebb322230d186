package vars

import (
	"slices"
	"sort"
	"strings"

	"moon/plan/eval/value"
	"moon/plan/inventory"
)

// Level is where variables of plays come from: sources of which the later one is the stronger, and which are looked through at once.
type Level struct {
	Sources []Source
	in      func(fr *Frame, sc *Scene) place // where a frame has them; the scene is never nil
	merging Merging
}

// place is where the variables of a level are: in a layer, then in a history as of a moment, or among the facts.
type place struct {
	layer   *Layer
	history *History
	moment  int
	facts   bool
}

// Source is one place that gives variables, as the page about them names it.
type Source struct{ Name, Doc string }

// Levels are the levels of the variables of plays, the weakest first. Looking a variable up walks them from the end. It is Ansible's
// order but for role vars, which are below those of the play here: who writes a play decides, and not who wrote the role.
var Levels = []Level{
	{[]Source{{"role defaults", "`defaults/` of a role; after the role, for the rest of the play"}}, func(fr *Frame, sc *Scene) place {
		return place{layer: sc.Defaults, history: &fr.All.ShownDefaults, moment: fr.DocumentAt}
	}, MergesEach},
	{[]Source{
		{"inventory, [all:vars]", "variables of the group `all` in the inventory itself"},
		{"inventory, [group:vars]", "variables of other groups; those of a child count before those of its parent"},
		{"inventory, group_vars/all", "in the directory of the inventory"},
		{"playbook, group_vars/all", "in the directory of the play's playbook, which may be an imported one"},
		{"inventory, group_vars/GROUP", ""},
		{"playbook, group_vars/GROUP", ""},
		{"inventory, host", "variables on the line of the host, or below its name"},
		{"inventory, host_vars/HOST", ""},
		{"playbook, host_vars/HOST", ""},
	}, func(fr *Frame, sc *Scene) place { return place{layer: fr.All.Of.InventoryFor(fr)} }, MergesEach},
	{[]Source{{"fact", "gathered from the host, as `ansible_NAME`"}}, func(fr *Frame, _ *Scene) place {
		return place{facts: !fr.All.Of.Hides(fr.ProducedAt)}
	}, MergesNewest},
	{[]Source{{"role vars", "`vars/` of a role; after the role, for the rest of the play"}}, func(fr *Frame, sc *Scene) place {
		return place{layer: sc.RoleVars, history: &fr.All.ShownVars, moment: fr.DocumentAt}
	}, MergesEach},
	{[]Source{
		{"import_playbook vars", "`vars:` next to `import_playbook:`"},
		{"play vars", "`vars:` of the play"},
		{"vars_prompt", "the answers"},
		{"vars_files", "files named under `vars_files:` of the play; the last one counts"},
	}, func(_ *Frame, sc *Scene) place { return place{layer: sc.Vars} }, MergesEach},
	{[]Source{{"root vars", "`vars:` next to `plays:`"}}, func(fr *Frame, _ *Scene) place { return place{layer: fr.All.Root} }, MergesEach},
	{
		[]Source{{"block vars", "`vars:` next to `block:`, `import_tasks:`, `import_role:` or a role, or under `apply:`; the innermost count"}},
		func(fr *Frame, _ *Scene) place { return place{layer: fr.Block} }, MergesInnermost,
	},
	{[]Source{{"task vars", "`vars:` of the task itself"}}, func(fr *Frame, _ *Scene) place { return place{layer: fr.Step} }, MergesInnermost},
	{[]Source{{"include_vars", "the variables that the task has read, for the tasks after it"}}, func(fr *Frame, _ *Scene) place {
		return place{history: &fr.All.Document, moment: fr.DocumentAt}
	}, MergesEach},
	{[]Source{
		{"set_fact", "for all plays after it"},
		{"register", "the same; the later of the two counts"},
	}, func(fr *Frame, _ *Scene) place { return place{history: &fr.All.Produced, moment: fr.ProducedAt} }, MergesNewest},
	{[]Source{
		{"role parameters", "given to a role, next to its name"},
		{"include vars", "`vars:` next to `include_tasks:` or `include_role:`; the innermost count"},
	}, func(fr *Frame, _ *Scene) place { return place{layer: fr.Params} }, MergesNewest},
	{[]Source{{"loop", "`item`, or the name set by `loop_control`"}}, func(fr *Frame, _ *Scene) place { return place{layer: fr.Loop} }, MergesNever},
	{
		[]Source{{"--vars-file", "a file given on the command line; the last one counts"}},
		func(fr *Frame, _ *Scene) place { return place{layer: fr.All.Files} }, MergesEach,
	},
	{[]Source{{"-e", "`-e name=value`, `-e '{\"name\": 1}'` or `-e @file.yml`"}}, func(fr *Frame, _ *Scene) place { return place{layer: fr.All.Extra} }, MergesEach},
}

// Magic are the variables that say where a template stands and how moon was called, in the order of the page about plays. Nothing
// can hide them.
var Magic = []Source{
	{"inventory_hostname", "the name of the host in the inventory"},
	{"inventory_hostname_short", "its name up to the first dot"},
	{"group_names", "its groups, without `all`"},
	{"groups", "all groups: a list of hosts each"},
	{"hostvars", "the variables of every host, by its name"},
	{"vars", "all variables, by name"},
	{"ansible_play_name", "the play"},
	{"ansible_play_hosts_all", "the hosts of the play"},
	{"ansible_play_hosts", "the same; a plan does not know which hosts will have failed"},
	{"ansible_play_batch", "the hosts of the batch, with `serial`"},
	{"play_hosts", "the same"},
	{"ansible_play_role_names", "the roles of the play, as its `roles:` has them"},
	{"role_names", "the same"},
	{"ansible_dependent_role_names", "the roles that they depend on"},
	{"ansible_role_names", "both"},
	{"role_name", "the role that the task is in"},
	{"ansible_role_name", "the same, behind the name of its collection"},
	{"ansible_collection_name", "the collection of that role; none outside of collections"},
	{"role_path", "its directory"},
	{"ansible_parent_role_names", "the roles whose tasks include it, the nearest first; undefined if there are none"},
	{"ansible_parent_role_paths", "their directories"},
	{"playbook_dir", "the directory of the playbook with this play"},
	{"inventory_file", "the inventory that the host is from: the first that has it"},
	{"inventory_dir", "its directory"},
	{"ansible_inventory_sources", "all inventories, as given"},
	{"ansible_config_file", "the `ansible.cfg` that counts; none without one"},
	{"environment", "the `environment:` of the play, the blocks and the task: a list"},
	{"ansible_delegated_vars", "with `delegate_to`: the variables of that host, by its name"},
	{"ansible_check_mode", "whether the run is a dry run"},
	{"ansible_diff_mode", "whether it shows diffs"},
	{"ansible_forks", "how many steps may run at once"},
	{"ansible_verbosity", "0"},
	{"ansible_limit", "the value of `--limit`; undefined without it"},
	{"ansible_run_tags", "the value of `--tags`, or `[all]`"},
	{"ansible_skip_tags", "the value of `--skip-tags`"},
	{"ansible_version", "the Ansible version whose language this is, as a map"},
	{"ansible_playbook_python", "`/usr/bin/python3`"},
	{"omit", "as `default(omit)`: the argument is omitted"},
}

// eachIn calls f with the binding of a name in a layer and in those below it, until it returns true.
func (l *Layer) eachIn(name string, f func(*Binding) bool) bool {
	for ; l != nil; l = l.Parent {
		if b := l.Find(name); b != nil && f(b) {
			return true
		}
	}
	return false
}

// Nearest is the binding of a name that counts in a layer and those below it, nil if there is none.
func (l *Layer) Nearest(name string) (nearest *Binding) {
	l.eachIn(name, func(b *Binding) bool { nearest = b; return true })
	return nearest
}

// eachOfHost is Each for a host of an inventory. Only what a person overrides in a run is above all levels, and only the facts
// of this machine, under moon's own names, are below them. That f is called here and not by the levels keeps it, and all that it
// notes, off the heap: names are looked up more often than anything else is done.
func (fr *Frame) eachOfHost(name string, f func(*Binding) bool) bool {
	sc := fr.Scene
	if sc == nil {
		sc = &Scene{}
	}
	if fr.Over.eachIn(name, f) {
		return true
	}
	for _, level := range slices.Backward(Levels) {
		at := level.in(fr, sc)
		if at.layer.eachIn(name, f) || at.history != nil && at.history.Before(name, at.moment, f) ||
			at.facts && fr.All.Of.Variable(name, fr.ProducedAt, f) {
			return true
		}
	}
	return fr.eachBelow(name, f)
}

// eachBelow is what is below all levels, only for want of any other value, so that a variable of the playbook never waits for a step.
func (fr *Frame) eachBelow(name string, f func(*Binding) bool) bool {
	return fr.All.Of.promises(name, f) || fr.Fact(name, f) || managed(name, f) || fr.All.Of.mayHave(name, fr.ProducedAt, f) ||
		noFacts(name, f)
}

// pastOf is the inventory at the moment of a frame, nil where it is the one there is.
func (fr *Frame) pastOf() *PastInventory {
	if fr.Scene == nil || fr.Scene.Past == nil {
		return nil
	}
	list := *fr.Scene.Past
	for i := range list {
		// They are in the order of the changes: the first after the moment has what was there then.
		if fr.ProducedAt < list[i].Before {
			return &list[i]
		}
	}
	return nil
}

// Each calls f with the bindings of name, from the one that counts to the ones it hides, until f returns true. The
// order is LANGUAGE.md's precedence.
func (fr *Frame) Each(name string, f func(*Binding) bool) bool {
	if fr.All.Of != nil {
		return fr.eachOfHost(name, f)
	}
	on := fr.Machine()
	return fr.Over.eachIn(name, f) || fr.All.Extra.eachIn(name, f) || fr.All.Files.eachIn(name, f) ||
		fr.Loop.eachIn(name, f) || fr.Params.eachIn(name, f) ||
		fr.producedFor(on, name, f) ||
		fr.Step.eachIn(name, f) || fr.Block.eachIn(name, f) ||
		fr.All.Document.Before(name, fr.DocumentAt, f) ||
		fr.All.Root.eachIn(name, f) || fr.All.VarsFiles.eachIn(name, f) ||
		on != nil && (fr.gathered(on, name, f) || on.InventoryFor(fr).eachIn(name, f)) ||
		fr.All.facts.eachIn(name, f) || fr.Fact(name, f)
}

// producedFor finds what steps have set: on a host what was set there, unless a step has set it later for all.
func (fr *Frame) producedFor(on *Machine, name string, f func(*Binding) bool) bool {
	if on == nil {
		return fr.All.Produced.Before(name, fr.ProducedAt, f)
	}
	return beforeOfBoth(&on.Names.Produced, &fr.All.Produced, name, fr.ProducedAt, f)
}

// Promises finds the steps that may set any name.
func (fr *Frame) Promises(f func(*Binding) bool) { fr.producedFor(fr.Machine(), AnyName, f) }

// gathered finds a fact of the host of a step. The hosts are asked when the first of them is used.
func (fr *Frame) gathered(on *Machine, name string, f func(*Binding) bool) bool {
	// This machine has its own facts, which no one needs to be asked for.
	isFact := strings.HasPrefix(name, "ansible_") && !settings[name] || on.Away && ownFacts[name]
	if isFact && on.State == FactsUnasked && fr.Scene.Gather != nil {
		fr.Scene.Gather(on)
	}
	// No step of the run gives what the host has not given.
	if isFact && on.State == FactsPromised && on.Gatherer < 0 {
		return f(&Binding{Name: name, Value: on.InPlace, From: "fact"})
	}
	return on.Fact(name, fr.ProducedAt, f)
}

// ofFacts are the names that hold moon's own facts of the machine on which a step runs.
func (fr *Frame) ofFacts() *Globals {
	if on := fr.Machine(); on != nil {
		return on.Names
	}
	return fr.All
}

// Costly are the facts that are found out when something names them.
func (fr *Frame) Costly() map[string]func() any { return fr.ofFacts().Costly }

// Measure is a fact that changes, or all facts, with the value that the run got when it first asked.
func (fr *Frame) Measure(name string) any { return fr.ofFacts().Measure(name) }

// Fact finds a fact of the machine that moon runs on, by its name or among all.
func (fr *Frame) Fact(name string, f func(*Binding) bool) bool {
	if name == "facts" {
		return f(&Binding{Name: name, Value: fr.ofFacts().FactsMap, From: "facts", How: Measured})
	}
	v, ok := fr.ofFacts().FactsMap[name]
	// Found out only when a playbook asks, as these take long.
	if get, costly := fr.ofFacts().Costly[name]; costly && !ok {
		v, ok = get(), true
	}
	if !ok {
		return false
	}
	b := Binding{Name: name, Value: v, From: "fact"}
	// The run will have another value, so planning may not use this one.
	if _, changes := v.(value.Unknown); changes {
		b.How = Measured
	}
	return f(&b)
}

// Names lists every name that can be looked up, for "did you mean".
func (fr *Frame) Names() []string {
	seen := map[string]bool{}
	for _, l := range []*Layer{fr.Over, fr.All.Extra, fr.All.Files, fr.Loop, fr.Params, fr.Step, fr.Block, fr.All.Root, fr.All.VarsFiles} {
		for ; l != nil; l = l.Parent {
			for _, b := range l.Binds {
				seen[b.Name] = true
			}
		}
	}
	add := func(h *History, moment int) {
		for name := range h.Versions {
			if name == AnyName {
				continue
			}
			h.Before(name, moment, func(*Binding) bool { seen[name] = true; return true })
		}
	}
	add(&fr.All.Document, fr.DocumentAt)
	add(&fr.All.Produced, fr.ProducedAt)
	for name := range fr.ofFacts().FactsMap {
		seen[name] = true
	}
	if fr.OnHost() {
		fr.namesOfHost(seen)
	}
	list := make([]string, 0, len(seen))
	for name := range seen {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

// namesOfHost adds the names that a host of an inventory brings.
func (fr *Frame) namesOfHost(seen map[string]bool) {
	layers := []*Layer{fr.Machine().InventoryFor(fr)}
	if fr.Scene != nil {
		layers = append(layers, fr.Scene.Vars, fr.Scene.RoleVars, fr.Scene.Defaults)
	}
	for _, l := range layers {
		for ; l != nil; l = l.Parent {
			for i := range l.Binds {
				seen[l.Binds[i].Name] = true
			}
		}
	}
	for name := range fr.Machine().Facts {
		seen["ansible_"+name] = true
	}
	for _, m := range Magic {
		seen[m.Name] = true
	}
}

// managed finds the line that templates begin with, where nobody has another.
func managed(name string, f func(*Binding) bool) bool {
	return name == "ansible_managed" && f(&Binding{Name: name, Value: "Ansible managed", From: "default"})
}

// noFacts finds the facts of a host that are not gathered yet: there are none, which playbooks ask before they gather them.
func noFacts(name string, f func(*Binding) bool) bool {
	return name == "ansible_facts" && f(&Binding{Name: name, Value: map[string]any{}, From: "facts"})
}

// GroupNames are the names of the host's groups, without all: a list, or unknown as long as steps may add to them. unended says which of
// some steps have not ended.
func (fr *Frame) GroupNames(unended func(steps []int) []int) any {
	m := fr.Machine()
	if fr.Scene != nil && fr.Scene.Inventory != nil {
		if steps := fr.Scene.Inventory.After(fr.ProducedAt, unended).Joining(m.Name); len(steps) > 0 {
			return value.Unknown{Steps: steps}
		}
	}
	if past := fr.pastOf(); past != nil {
		return value.ListOf(past.Of[m.Name])
	}
	return value.ListOf(GroupsOfHost(m.Host))
}

// GroupsOfHost are the names of a host's groups, without all.
func GroupsOfHost(h *inventory.Host) []string {
	var names []string
	if h == nil {
		return names
	}
	for _, g := range h.Groups {
		// As with Ansible, `all` is not among them.
		if g.Name != "all" {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	return names
}

// AddersOf are the steps that may still add a host of that name.
func (fr *Frame) AddersOf(host string, unended func(steps []int) []int) []int {
	if fr.Scene.Inventory == nil {
		return nil
	}
	return fr.Scene.Inventory.After(fr.ProducedAt, unended).Adding(host)
}

// Groups are all groups with their hosts. As long as steps may add to some of them, those are unknown.
func (fr *Frame) Groups(unended func(steps []int) []int) any {
	now := fr.groupsNow()
	if fr.Scene.Inventory == nil || len(fr.Scene.Inventory.Pending) == 0 {
		return now
	}
	coming := fr.Scene.Inventory.After(fr.ProducedAt, unended)
	known, all := map[string]any{}, coming.All()
	if len(all) == 0 {
		return now
	}
	for name, hosts := range now {
		if len(coming.Changing(name)) == 0 {
			known[name] = hosts
		}
	}
	return value.Partial{Name: "groups", Known: known, Steps: all}
}

func (fr *Frame) groupsNow() map[string]any {
	if past := fr.pastOf(); past != nil {
		return past.Groups
	}
	if fr.Scene.Inventory == nil {
		return map[string]any{}
	}
	changes := fr.Scene.Inventory.Changes()
	// They are the same until the inventory changes, and any template of any host may ask.
	if then := fr.Scene.Grouped.last.Load(); then != nil && then.changes == changes {
		return then.all
	}
	all := GroupsOf(fr.Scene.Inventory)
	fr.Scene.Grouped.last.Store(&groupsThen{changes, all})
	return all
}

// GroupsOf is the variable groups: the hosts of each group of an inventory.
func GroupsOf(inv *inventory.Inventory) map[string]any {
	all := map[string]any{}
	for _, g := range inv.Groups {
		all[g.Name] = value.ListOf(HostNames(g.All()))
	}
	return all
}

// HostNames are the names of some hosts.
func HostNames(hosts []*inventory.Host) []string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name
	}
	return names
}

// BatchKey tells the batches of a play apart.
func (sc *Scene) BatchKey() string { return strings.Join(sc.Batch, ",") + "\x00" }
