package plan

import (
	"slices"
	"sort"
	"strings"

	"moon/plan/eval"
	"moon/plan/inventory"
)

// Level is where variables of plays come from: sources of which the later one is the stronger, and which are looked through at once.
type Level struct {
	Sources []VarSource
	find    func(l looking) bool
}

// VarSource is one place that gives variables, as the page about them names it.
type VarSource struct{ Name, Doc string }

// Levels are the levels of the variables of plays, the weakest first. Looking a variable up walks them from the end. It is Ansible's
// order but for role vars, which are below those of the play here: who writes a play decides, and not who wrote the role.
var Levels = []Level{
	{[]VarSource{{"role defaults", "`defaults/` of a role; of a role that was used before, for the rest of the play"}}, func(l looking) bool {
		return l.layer(l.scene.defaults) || l.history(&l.all.shownDefaults, l.documentAt)
	}},
	{[]VarSource{
		{"inventory, [all:vars]", "variables of the group `all` in the inventory itself"},
		{"inventory, [group:vars]", "variables of other groups; those of a child count before those of its parent"},
		{"inventory, group_vars/all", "beside the inventory"},
		{"playbook, group_vars/all", "beside the playbook of the play, which may be an imported one"},
		{"inventory, group_vars/GROUP", ""},
		{"playbook, group_vars/GROUP", ""},
		{"inventory, host", "variables on the line of the host, or below its name"},
		{"inventory, host_vars/HOST", ""},
		{"playbook, host_vars/HOST", ""},
	}, func(l looking) bool { return l.layer(l.all.of.inventoryFor(l.scene)) }},
	{[]VarSource{{"fact", "what was gathered of the host, as `ansible_NAME`"}}, func(l looking) bool {
		return !l.all.of.hides(l.producedAt) && l.all.of.fact(l.name, l.producedAt, l.found)
	}},
	{[]VarSource{{"role vars", "`vars/` of a role; of a role that was used before, for the rest of the play"}}, func(l looking) bool {
		return l.layer(l.scene.roleVars) || l.history(&l.all.shownVars, l.documentAt)
	}},
	{[]VarSource{
		{"import_playbook vars", "`vars:` beside `import_playbook:`"},
		{"play vars", "`vars:` of the play"},
		{"vars_prompt", "what was typed"},
		{"vars_files", "files named under `vars_files:` of the play; of several the last counts"},
	}, func(l looking) bool { return l.layer(l.scene.vars) }},
	{[]VarSource{{"root vars", "`vars:` beside `plays:`"}}, func(l looking) bool { return l.layer(l.all.root) }},
	{[]VarSource{{"block vars", "`vars:` beside `block:`, `import_tasks:`, or under `apply:`; the inner ones count"}}, func(l looking) bool { return l.layer(l.block) }},
	{[]VarSource{{"task vars", "`vars:` of the task itself"}}, func(l looking) bool { return l.layer(l.step) }},
	{[]VarSource{{"include_vars", "what the task has read, for the tasks after it"}}, func(l looking) bool {
		return l.history(&l.all.document, l.documentAt)
	}},
	{[]VarSource{
		{"set_fact", "for all plays after it"},
		{"register", "the same; of both the later one counts"},
	}, func(l looking) bool { return l.history(&l.all.produced, l.producedAt) }},
	{[]VarSource{
		{"role parameters", "what a role is given, beside its name"},
		{"include vars", "`vars:` beside `include_tasks:` or `include_role:`; the inner ones count"},
	}, func(l looking) bool { return l.layer(l.params) }},
	{[]VarSource{{"loop", "`item`, or what `loop_control` calls it"}}, func(l looking) bool { return l.layer(l.loop) }},
	{[]VarSource{{"--vars-file", "a file given on the command line; of several the last counts"}}, func(l looking) bool { return l.layer(l.all.files) }},
	{[]VarSource{{"-e", "`-e name=value`, `-e '{\"name\": 1}'` or `-e @file.yml`"}}, func(l looking) bool { return l.layer(l.all.extra) }},
}

// looking is a search for a name. found is told of every value, the one that counts first, until it returns true.
type looking struct {
	*frame
	name  string
	found func(*binding) bool
	scene *hostScope // never nil
}

func (l looking) layer(of *layer) bool {
	for ; of != nil; of = of.parent {
		if b := of.find(l.name); b != nil && l.found(b) {
			return true
		}
	}
	return false
}

func (l looking) history(h *history, moment int) bool { return h.before(l.name, moment, l.found) }

// eachOfHost is frame.each for a host of an inventory. Only what a person overrides in a run is above all levels, and only the facts
// of this machine, under moon's own names, are below them.
func (fr *frame) eachOfHost(name string, f func(*binding) bool) bool {
	l := looking{frame: fr, name: name, found: f, scene: fr.scene}
	if l.scene == nil {
		l.scene = &hostScope{}
	}
	if l.layer(fr.over) {
		return true
	}
	for _, level := range slices.Backward(Levels) {
		if level.find(l) {
			return true
		}
	}
	return fr.all.of.promises(name, f) || fr.fact(name, f) || managed(name, f) || fr.all.of.mayHave(name, fr.producedAt, f)
}

// pastOf is the inventory at the moment of a frame, nil where it is the one there is.
func (fr *frame) pastOf() *pastInventory {
	if fr.scene == nil || fr.scene.past == nil {
		return nil
	}
	list := *fr.scene.past
	for i := range list {
		if fr.producedAt < list[i].before {
			return &list[i]
		}
	}
	return nil
}

// each calls f with the bindings of name, from the one that counts to the ones it hides, until f returns true. The
// order is LANGUAGE.md's precedence.
func (fr *frame) each(name string, f func(*binding) bool) bool {
	try := func(l *layer) bool {
		for ; l != nil; l = l.parent {
			if b := l.find(name); b != nil && f(b) {
				return true
			}
		}
		return false
	}
	if fr.all.of != nil {
		return fr.eachOfHost(name, f)
	}
	return try(fr.over) || try(fr.all.extra) || try(fr.all.files) || try(fr.loop) || try(fr.params) ||
		fr.all.produced.before(name, fr.producedAt, f) ||
		try(fr.step) || try(fr.block) ||
		fr.all.document.before(name, fr.documentAt, f) ||
		try(fr.all.root) || try(fr.all.varsFiles) || try(fr.all.facts) || fr.fact(name, f)
}

func (fr *frame) fact(name string, f func(*binding) bool) bool {
	if name == "facts" {
		return f(&binding{name: name, value: fr.all.factsMap, from: "facts", how: measured})
	}
	v, ok := fr.all.factsMap[name]
	if get, costly := fr.all.costly[name]; costly && !ok {
		v, ok = get(), true
	}
	if !ok {
		return false
	}
	b := binding{name: name, value: v, from: "fact"}
	if _, changes := v.(eval.Unknown); changes {
		b.how = measured
	}
	return f(&b)
}

// names lists every name that can be looked up, for "did you mean".
func (fr *frame) names() []string {
	seen := map[string]bool{}
	for _, l := range []*layer{fr.over, fr.all.extra, fr.all.files, fr.loop, fr.params, fr.step, fr.block, fr.all.root, fr.all.varsFiles} {
		for ; l != nil; l = l.parent {
			for _, b := range l.binds {
				seen[b.name] = true
			}
		}
	}
	add := func(h *history, moment int) {
		for name := range h.versions {
			h.before(name, moment, func(*binding) bool { seen[name] = true; return true })
		}
	}
	add(&fr.all.document, fr.documentAt)
	add(&fr.all.produced, fr.producedAt)
	for name := range fr.all.factsMap {
		seen[name] = true
	}
	if fr.all.of != nil {
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
func (fr *frame) namesOfHost(seen map[string]bool) {
	layers := []*layer{fr.all.of.inventoryFor(fr.scene)}
	if fr.scene != nil {
		layers = append(layers, fr.scene.vars, fr.scene.roleVars, fr.scene.defaults)
	}
	for _, l := range layers {
		for ; l != nil; l = l.parent {
			for i := range l.binds {
				seen[l.binds[i].name] = true
			}
		}
	}
	for name := range fr.all.of.facts {
		seen["ansible_"+name] = true
	}
	for name := range magicNames {
		seen[name] = true
	}
}

// managed finds the line that templates begin with, where nobody has another.
func managed(name string, f func(*binding) bool) bool {
	return name == "ansible_managed" && f(&binding{name: name, value: "Ansible managed", from: "default"})
}

// groupNames are the names of the host's groups, without all.
func (fr *frame) groupNames() []string {
	if past := fr.pastOf(); past != nil {
		return past.of[fr.all.of.name]
	}
	return groupsOfHost(fr.all.of.host)
}

func groupsOfHost(h *inventory.Host) []string {
	var names []string
	if h == nil {
		return names
	}
	for _, g := range h.Groups {
		if g.Name != "all" {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	return names
}

// groups are all groups with their hosts.
func (fr *frame) groups() any {
	if past := fr.pastOf(); past != nil {
		return past.groups
	}
	if fr.scene.inventory == nil {
		return map[string]any{}
	}
	changes := fr.scene.inventory.Changes()
	if then := fr.scene.grouped.last.Load(); then != nil && then.changes == changes {
		return then.all
	}
	all := groupsOf(fr.scene.inventory)
	fr.scene.grouped.last.Store(&groupsThen{changes, all})
	return all
}

func groupsOf(inv *inventory.Inventory) map[string]any {
	all := map[string]any{}
	for _, g := range inv.Groups {
		all[g.Name] = anyList(hostNames(g.All()))
	}
	return all
}

func hostNames(hosts []*inventory.Host) []string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name
	}
	return names
}

// batchKey tells the batches of a play apart.
func (sc *hostScope) batchKey() string { return strings.Join(sc.batch, ",") + "\x00" }
