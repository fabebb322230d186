package plan

import (
	"reflect"
	"slices"
	"unicode/utf8"

	"moon/internal/diag"
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
	scene *scene // never nil
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
		l.scene = &scene{}
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

// hidden warns about variables of a role that its play sets too, to something else: there moon's order is not Ansible's.
func (p *playsState) hidden(c *scopeContext, r *role) {
	for _, e := range r.files.vars {
		own := p.lazyBinding(e.Key, e.Value, r.files.varsFrom, origin(e.Pos, c.chain))
		l := looking{frame: p.frame(c, nil), name: e.Key, scene: c.scene}
		var by *binding
		l.found = func(b *binding) bool { by = b; return true }
		if !l.layer(l.all.root) && !l.layer(l.scene.vars) || reflect.DeepEqual(plain(e.Value), by.value) && !own.lazy {
			continue
		}
		told := own.origin.String() + " " + by.origin.String()
		if p.warned[told] {
			continue
		}
		p.warned[told] = true
		p.report(diag.Diagnostic{
			Severity: diag.Warning, Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Chain: c.chain,
			Message: "`" + e.Key + "` is set here, in the vars of the role " + r.name + ", and by the play (" + by.origin.String() + "), whose value counts",
			Hint:    "ansible-playbook takes that of the role; give one of them another name, or move that of the role to its defaults",
		})
	}
}
