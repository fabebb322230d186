package defaults

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
	"moon/plan/collection"
	"moon/plan/eval/value"
	"moon/plan/planner/compile"
	"moon/plan/planner/known"
	"moon/plan/planner/library"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
)

// Maker adds defaults to the arguments of actions.
type Maker struct {
	Problems *problems.Collector
	Compiler *compile.Compiler
	Known    *known.Reader
	Library  *library.Library
	Actions  playbook.Actions
	Core     string // the directory of the installed ansible-core; "" if there is none

	names  map[string]string          // by a name as written: the one of the module
	groups map[string]map[string]bool // by the full name of a group: the modules in it
}

// groupPrefix is what begins the key of the defaults of a group of modules.
const groupPrefix = "group/"

// entry is what counts for a module, or for a group.
type entry struct {
	playbook.Entry
	of string // the module, or with the prefix the group
}

// Add gives a task the arguments that the maps around it, from the outermost, have for its action and that it does not give itself. What is
// compiled of a task is shared by its hosts, so it is copied. Of a task that is idle no template need have a value.
func (m *Maker) Add(k *plan.Compiled, around []playbook.Value, r *plan.Renderer, idle bool) *plan.Compiled {
	if k.Action == nil || !k.Sound {
		return k
	}
	own := ownArguments(k)
	given := map[string]bool{}
	for _, g := range own {
		given[g.Name] = true
	}
	var list []plan.Arg
	for _, e := range m.inOrder(k, around, r) {
		for _, one := range m.arguments(e, r, idle).Entries() {
			if g, ok := m.argument(k, one, r.Chain); ok && !given[g.Name] {
				g.Default = true
				list = slices.DeleteFunc(list, func(before plan.Arg) bool { return before.Name == g.Name })
				list = append(list, g)
			}
		}
	}
	if len(list) == 0 {
		return k
	}
	// Ansible forgets which module it is that such a task names.
	for _, e := range k.Src.Keys {
		if key := bareName(e.Key); key == "action" || key == "local_action" {
			m.Problems.Report(diag.Diagnostic{
				Severity: diag.Warning, Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Chain: r.Chain,
				Message: "`module_defaults` has no effect on a task that is written with `" + e.Key + "`, as with ansible-playbook",
				Hint:    "write `" + k.Src.ActionKey + ":`, and `delegate_to: localhost` where that is meant",
			})
			return k
		}
	}
	with := *k
	with.Args = slices.Clip(k.Args)
	if slices.ContainsFunc(list, func(g plan.Arg) bool { return g.Name == "msg" || g.Name == "var" }) {
		with.Args = own
	}
	with.Args = append(with.Args, list...)
	return &with
}

// ownArguments are those that the task itself has: what `debug` prints without a message counts only if nothing gives it one.
func ownArguments(k *plan.Compiled) []plan.Arg {
	if t := k.Src.PlayTask; t == nil || !t.Greets {
		return k.Args
	}
	return slices.DeleteFunc(slices.Clone(k.Args), func(g plan.Arg) bool { return g.Name == "msg" })
}

// inOrder are the entries that are for an action, the later above the earlier: of groups, in the order in which they are first written,
// and of the module.
func (m *Maker) inOrder(k *plan.Compiled, around []playbook.Value, r *plan.Renderer) (list []entry) {
	all := m.merge(around, r.Chain)
	own := m.namesOf(k)
	for _, e := range all {
		if group, ok := strings.CutPrefix(e.of, groupPrefix); ok {
			members := m.groups[group]
			if slices.ContainsFunc(own, func(name string) bool { return members[name] }) {
				list = append(list, e)
			}
		}
	}
	for _, name := range own {
		if i := slices.IndexFunc(all, func(e entry) bool { return e.of == name }); i >= 0 {
			list = append(list, all[i])
		}
	}
	m.warnDeputies(own[len(own)-1], all, r.Chain)
	return list
}

// merge puts the maps around a task into one: what is nearer takes the place of what is further out, and keeps its position.
func (m *Maker) merge(around []playbook.Value, chain []string) (all []entry) {
	for _, defaults := range around {
		for _, e := range defaults.Entries() {
			one := entry{e, m.resolve(e, chain)}
			if i := slices.IndexFunc(all, func(have entry) bool { return have.of == one.of }); i >= 0 {
				all[i] = one
				continue
			}
			all = append(all, one)
		}
	}
	return all
}

// resolve is what a key of defaults is for.
func (m *Maker) resolve(e playbook.Entry, chain []string) string {
	if name, ok := strings.CutPrefix(e.Key, groupPrefix); ok {
		if _, _, full := collection.Split(name); !full {
			name = collection.Builtin + "." + name
		}
		m.readGroup(name, e, chain)
		return groupPrefix + name
	}
	m.checkName(e, chain)
	return m.moduleOf(e.Key)
}

// checkName refuses a name without a collection that no module has. One in a collection need not be installed for tasks that do not use it.
func (m *Maker) checkName(e playbook.Entry, chain []string) {
	name := bareName(e.Key)
	_, _, full := collection.Split(name)
	_, known := m.Actions.Canonical(name)
	_, later := spec.ActionLater(name)
	_, steers := spec.Steering(name)
	if full || known || later || steers || m.moduleOf(name) != name {
		return
	}
	m.Problems.Report(diag.Diagnostic{
		Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Chain: chain, Message: "there is no module `" + e.Key + "`",
		Hint: suggest.DidYouMean(name, m.Actions.Names),
	})
}

// bareName is the name of what Ansible itself brings without its collection.
func bareName(name string) string {
	if in, bare, ok := collection.Split(name); ok && (in == collection.Builtin || in == collection.Legacy) {
		return bare
	}
	return name
}

// moduleOf is the one name of a module that may be written with its collection, without it, or as it was called once.
func (m *Maker) moduleOf(written string) string {
	if name, ok := m.names[written]; ok {
		return name
	}
	name := bareName(written)
	_, bare, full := collection.Split(name)
	if _, native := spec.Lookup(name); native {
		if full {
			name = bare // Ansible had it without a collection once
		}
	} else if full || m.Core != "" {
		if !full {
			name = collection.Builtin + "." + name
		}
		if found, err := m.Library.Collections().Resolve(collection.Modules, name); err == nil {
			name = found.Name
		}
		name = bareName(name)
	}
	if m.names == nil {
		m.names = map[string]string{}
	}
	m.names[written] = name
	return name
}

// deputies are modules that do what another is asked for: with Ansible their defaults count there too, on hosts that have them.
var deputies = map[string][]string{
	"package": {"apt", "dnf", "yum", "zypper", "pacman", "apk", "homebrew"},
	"service": {"systemd", "systemd_service", "sysvinit"},
}

// namesOf are the modules whose defaults count for a task, the last above the others.
func (m *Maker) namesOf(k *plan.Compiled) []string {
	name := k.Src.ActionKey
	if _, native := spec.Lookup(bareName(name)); !native {
		name = k.Action.Name
	}
	own := m.moduleOf(name)
	if own == "gather_facts" { // which calls the other
		return []string{"setup", own}
	}
	return []string{own}
}

// warnDeputies says of defaults that do not reach a task here.
func (m *Maker) warnDeputies(own string, all []entry, chain []string) {
	for _, e := range all {
		if slices.Contains(deputies[own], e.of) {
			m.Problems.Report(diag.Diagnostic{
				Severity: diag.Warning, Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Chain: chain,
				Message: "the defaults of `" + e.Key + "` are not used by `" + own + "`",
				Hint:    "write those that `" + own + "` should have under `" + own + ":`",
			})
		}
	}
}

// arguments are those of an entry: a map, or a template that gives one.
func (m *Maker) arguments(e entry, r *plan.Renderer, idle bool) (args playbook.Value) {
	switch v := e.Value; {
	case v.Kind() == playbook.Map:
		return v
	case v.Kind() == playbook.Null, idle:
	default:
		m.Known.ReadFixed(v, "module_defaults", "a map of arguments", r, func(got any) bool {
			if got == nil {
				return true
			}
			if _, ok := got.(map[string]any); !ok {
				return false
			}
			var err error
			args, err = playbook.WrittenData(v.Pos(), value.Ordinary(got))
			return err == nil
		})
	}
	return args
}

// argument reads a default as an argument of the action.
func (m *Maker) argument(k *plan.Compiled, e playbook.Entry, chain []string) (plan.Arg, bool) {
	f, ok := k.Action.Field(e.Key)
	switch {
	case e.NoText:
		return plan.Arg{}, false
	case ok:
		return m.Compiler.Argument(f.Name, e.Key, f, e.Value, chain), true
	case k.Action.Open, spec.IsLater(k.Action.Name, e.Key):
		return m.Compiler.Argument(e.Key, e.Key, nil, e.Value, chain), true
	}
	m.Compiler.RefuseArgument(e.Key, k.Action.Name, e.Pos, plan.FieldNames(k.Action.Fields()), chain)
	return plan.Arg{}, false
}

// readGroup reads which modules are in a group, and in those that it takes in.
func (m *Maker) readGroup(full string, e playbook.Entry, chain []string) {
	if _, known := m.groups[full]; known {
		return
	}
	if m.groups == nil {
		m.groups = map[string]map[string]bool{}
	}
	members := map[string]bool{}
	m.groups[full] = members
	if m.addGroup(full, members, map[string]bool{}) {
		return
	}
	in, name, _ := collection.Split(full)
	d := diag.Diagnostic{Pos: e.Pos, Width: utf8.RuneCountInString(e.Key), Chain: chain}
	c, found := m.Library.Collections().Collection(in)
	switch {
	case in == collection.Builtin && m.Core == "":
		// Its groups are made of those of collections, so no task that can be planned has lost anything.
		d.Severity = diag.Warning
		d.Message = "which modules are in the group `" + name + "` is not known: ansible-core is not installed"
		d.Hint = "write `group/NAMESPACE.COLLECTION." + name + "`, or the names of the modules"
	case !found:
		d.Message = "there is no collection `" + in + "`, so it is not known which modules are in `" + e.Key + "`"
		d.Hint = "install it, or write the names of the modules"
	default:
		d.Message = "the collection `" + in + "` has no group of modules `" + name + "`"
		d.Hint = suggest.DidYouMean(name, slices.Sorted(maps.Keys(c.Runtime().Groups)))
	}
	m.Problems.Report(d)
}

// addGroup adds the modules of a group. Groups that it takes in need not be there.
func (m *Maker) addGroup(full string, members, seen map[string]bool) bool {
	in, name, ok := collection.Split(full)
	if !ok || seen[full] {
		return false
	}
	seen[full] = true
	c, ok := m.Library.Collections().Collection(in)
	if !ok {
		return false
	}
	all := c.Runtime()
	found := false
	for _, name := range []string{name, full} { // a collection may write its own name in front
		modules, has := all.Groups[name]
		extended, takes := all.Extended[name]
		found = found || has || takes
		for _, module := range modules {
			members[m.moduleOf(module)] = true
		}
		for _, other := range extended {
			m.addGroup(other, members, seen)
		}
	}
	return found
}
