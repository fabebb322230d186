package plan

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// machine is a host of the inventory as the planner knows it. What is known of it lasts over all plays.
type machine struct {
	name      string
	host      *inventory.Host // nil for one that no inventory has: localhost, or an address to delegate to
	names     *names
	inventory []*layer // variables of the inventory for each directory of fleet.besides, the highest precedence first

	facts    map[string]any // as ansible_facts has them
	state    gathering
	since    int  // the moment (history) from which the facts count
	gatherer int  // the first step that gathers the facts in the run; -1: there is none
	keeps    bool // what it finds is used
	use      *factUse
	read     map[string]bool // the facts that planning has used
	env      map[string]bool // the variables of its environment; false where only steps with no_log use it
	why      string          // why it could not be reached when planning
	away     bool            // it is another machine than the one that moon runs on
	left     bool            // it has left the play: meta, end_host
	leftRole int             // the scope of the role that it has left: meta, end_role; 0: none
	gates    []gateAt        // of steps that may let it leave
	hidden   []hidden        // when its facts are not there
	added    []*layer        // what add_host has given it
	handed   history         // facts that tasks give, by their names in ansible_facts; see handOver

	nowhereAt settingsKey     // where settings were looked for last
	nowhere   map[string]bool // and which of them were not there
}

// gathering is how far the facts of a host are known.
type gathering uint8

const (
	ungathered gathering = iota // nobody has asked for them
	gathered                    // they are known
	promised                    // a step of the run will give them
)

// scene is what a place of a playbook of plays brings beside variables. It does not change once a frame has it.
type scene struct {
	inventory *inventory.Inventory
	grouped   *grouped
	machines  func(name string) *machine // those that exist, nil for others
	past      *[]pastInventory           // what the inventory was before it changed
	call      *Options
	root      string // of the playbook
	dir       string // of the playbook of the play
	beside    int    // its number in fleet.besides
	play      string // its name
	hosts     []string
	batch     []string
	roles     []string // of the play
	role      *role    // around; nil outside of roles
	vars      *layer   // of the play: vars, prompts and files, the highest precedence first
	roleVars  *layer
	defaults  *layer
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

// settings are variables that say how a host is reached. They are no facts, also where those are not known.
var settings = map[string]bool{"ansible_group_priority": true, "ansible_managed": true, "ansible_no_log": true}

func init() {
	for i := range ConnectionVariables {
		for _, name := range ConnectionVariables[i].Names {
			settings[name] = true
		}
	}
}

// changing are facts that are another thing every time. They are unknown until the run starts.
var changing = map[string]bool{
	"date_time": true, "memfree_mb": true, "memory_mb": true, "uptime_seconds": true, "loadavg": true, "swapfree_mb": true,
}

// fact finds a fact by the name it has as a variable. Before anybody has gathered them there are none.
func (m *machine) fact(name string, moment int, f func(*binding) bool) bool {
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

// managed finds the line that templates begin with, where nobody has another.
func managed(name string, f func(*binding) bool) bool {
	return name == "ansible_managed" && f(&binding{name: name, value: "Ansible managed", from: "default"})
}

// promises finds a fact of moon's own that a step of the run will give.
func (m *machine) promises(name string, f func(*binding) bool) bool {
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
func (m *machine) gatherers() []int {
	if m.gatherer < 0 {
		return nil
	}
	return []int{m.gatherer}
}

// magicNames are the variables that say where a template stands. Nothing can hide them.
var magicNames = map[string]func(e *env) (any, bool){}

func init() {
	text := func(get func(e *env) string) func(*env) (any, bool) {
		return func(e *env) (any, bool) { return get(e), true }
	}
	list := func(get func(e *env) []string) func(*env) (any, bool) {
		return func(e *env) (any, bool) { return anyList(get(e)), true }
	}
	called := func(name string) func(*env) (any, bool) {
		return func(e *env) (any, bool) {
			e.plan.made.facts.calls(name)
			return e.frame.scene.call.called(name), true
		}
	}
	inRole := func(get func(r *role) any) func(*env) (any, bool) {
		return func(e *env) (any, bool) {
			if e.frame.scene.role == nil {
				return nil, false
			}
			return get(e.frame.scene.role), true
		}
	}
	magicNames = map[string]func(e *env) (any, bool){
		"inventory_hostname": text(func(e *env) string { return e.frame.all.of.name }),
		"inventory_hostname_short": text(func(e *env) string {
			short, _, _ := strings.Cut(e.frame.all.of.name, ".")
			return short
		}),
		"group_names":               list(func(e *env) []string { return e.frame.groupNames() }),
		"groups":                    func(e *env) (any, bool) { return e.frame.groups(), true },
		"hostvars":                  func(e *env) (any, bool) { return hostVars{e}, true },
		"vars":                      func(e *env) (any, bool) { return allVars{e}, true },
		"play_hosts":                list(func(e *env) []string { return e.going(e.frame.scene.batch) }),
		"ansible_play_batch":        list(func(e *env) []string { return e.going(e.frame.scene.batch) }),
		"ansible_play_hosts":        list(func(e *env) []string { return e.going(e.frame.scene.hosts) }),
		"ansible_play_hosts_all":    list(func(e *env) []string { return e.frame.scene.hosts }),
		"ansible_play_name":         text(func(e *env) string { return e.frame.scene.play }),
		"ansible_play_role_names":   list(func(e *env) []string { return e.frame.scene.roles }),
		"ansible_role_names":        list(func(e *env) []string { return e.frame.scene.roles }),
		"role_names":                list(func(e *env) []string { return e.frame.scene.roles }),
		"playbook_dir":              text(func(e *env) string { return e.frame.scene.dir }),
		"inventory_dir":             func(e *env) (any, bool) { return e.frame.scene.inventoryDir() },
		"inventory_file":            func(e *env) (any, bool) { return e.frame.scene.inventoryFile() },
		"role_name":                 inRole(func(r *role) any { return r.name }),
		"ansible_role_name":         inRole(func(r *role) any { return r.name }),
		"role_path":                 inRole(func(r *role) any { return r.dir }),
		"ansible_parent_role_names": inRole(func(r *role) any { return anyList(r.parents()) }),
		"ansible_check_mode":        called("ansible_check_mode"),
		"ansible_diff_mode":         called("ansible_diff_mode"),
		"ansible_forks":             called("ansible_forks"),
		"ansible_verbosity":         func(*env) (any, bool) { return 0, true },
		"ansible_limit":             func(e *env) (any, bool) { return e.frame.scene.call.Limit, e.frame.scene.call.Limit != "" },
		"ansible_run_tags": list(func(e *env) []string {
			if tags := e.frame.scene.call.Tags; len(tags) > 0 {
				return tags
			}
			return []string{"all"}
		}),
		"ansible_skip_tags": list(func(e *env) []string { return e.frame.scene.call.SkipTags }),
		"ansible_version": func(*env) (any, bool) {
			return map[string]any{"full": "2.16.0", "major": 2, "minor": 16, "revision": 0, "string": "2.16.0"}, true
		},
		"ansible_playbook_python": text(func(*env) string { return "/usr/bin/python3" }),
		"omit":                    func(*env) (any, bool) { return eval.Omit, true },
	}
}

// magic gives a variable that says where a template stands.
func (e *env) magic(name string) (any, bool) {
	get, ok := magicNames[name]
	if !ok {
		return nil, false
	}
	return get(e)
}

func anyList(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
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

// grouped is the variable groups, which would take long to make for every step that asks for it. Steps that run ask at once.
type grouped struct{ last atomic.Pointer[groupsThen] }

// groupsThen are the groups after so many changes of the inventory.
type groupsThen struct {
	changes int
	all     map[string]any
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

// going are those of some hosts that have not failed. Planning takes it that none will; what is shown of it is asked again in the run.
func (e *env) going(hosts []string) []string {
	if e.results == nil {
		if e.changes != nil {
			*e.changes = true
		}
		return hosts
	}
	out := map[string]bool{}
	for _, step := range e.results.Failed() {
		s := &e.plan.Steps[step]
		began := e.at != nil && s.task.src.Pos == e.at.task.src.Pos && slices.Contains(e.frame.scene.batch, s.Host) // this very task, with it
		if !began {
			out[s.Host] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool { return out[host] })
}

func hostNames(hosts []*inventory.Host) []string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name
	}
	return names
}

func (sc *scene) inventoryFile() (any, bool) {
	for _, source := range sc.call.Inventory {
		if !inventory.IsList(source) {
			return resolvePath(source, sc.call.Dir, sc.call.Home), true
		}
	}
	return nil, false
}

func (sc *scene) inventoryDir() (any, bool) {
	file, ok := sc.inventoryFile()
	if !ok {
		return nil, false
	}
	return filepath.Dir(file.(string)), true
}

// hostVars is the variable hostvars: of each host what it has at this moment, without what belongs to the play.
type hostVars struct{ e *env }

// Keys implements eval.Object.
func (h hostVars) Keys() []string {
	if h.e.frame.scene.inventory == nil {
		return []string{h.e.frame.all.of.name}
	}
	return hostNames(h.e.frame.scene.inventory.Hosts)
}

// Get implements eval.Object.
func (h hostVars) Get(key string) (any, bool) {
	m := h.e.frame.scene.machines(key)
	if m == nil {
		return nil, false
	}
	return hostVarsOf{h.e.as(m)}, true
}

// as is the environment of another host, as hostvars shows it.
func (e *env) as(m *machine) *env {
	key := hostKey{m, e.frame}
	var fr *frame
	if e.memo != nil {
		fr = e.memo.hosts[key]
	}
	if fr == nil {
		sc := *e.frame.scene
		sc.role, sc.vars, sc.roleVars, sc.defaults = nil, nil, nil, nil
		fr = &frame{all: m.names, documentAt: e.frame.documentAt, producedAt: e.frame.producedAt, scene: &sc}
	}
	if e.memo != nil {
		e.memo.hosts[key] = fr
	}
	other := *e
	other.frame, other.extra, other.pending = fr, nil, nil
	return &other
}

// hostVarsOf are the variables of one host.
type hostVarsOf struct{ e *env }

// Keys implements eval.Object.
func (h hostVarsOf) Keys() []string { return keysOf(h.e) }

// Get implements eval.Object.
func (h hostVarsOf) Get(key string) (any, bool) { return entryOf(h.e, key) }

// allVars is the variable vars.
type allVars struct{ e *env }

// Keys implements eval.Object.
func (v allVars) Keys() []string { return keysOf(v.e) }

// Get implements eval.Object.
func (v allVars) Get(key string) (any, bool) { return entryOf(v.e, key) }

// keysOf are the names of an environment, without those that hold all others.
func keysOf(e *env) []string {
	return slices.DeleteFunc(slices.Compact(e.Names()), func(name string) bool { return name == "vars" || name == "hostvars" || name == "omit" })
}

func entryOf(e *env, key string) (any, bool) {
	if key == "vars" || key == "hostvars" {
		return nil, false
	}
	return e.Lookup(key)
}

// lazily renders the variable of a play where it is used.
func (e *env) lazily(b *binding) any {
	at := b.origin.String()
	if i := slices.Index(e.evaluating, b); i >= 0 {
		names := []string{}
		for _, one := range e.evaluating[i:] {
			names = append(names, one.name)
		}
		names = append(names, b.name)
		return eval.Fault{Err: &eval.Error{
			Kind: eval.Failed, Message: "variables that need each other: " + strings.Join(names, " → "), Hint: "give one of them a value of its own", Offset: -1,
		}, From: at}
	}
	return e.remembered(b, e.frame, func(m *memo) any {
		inner := *e
		inner.evaluating, inner.memo = append(slices.Clip(e.evaluating), b), m
		r := &renderer{engine: e.engine, env: &inner, marks: true}
		v := r.value(b.raw)
		if r.err != nil {
			found, ok := errors.AsType[*eval.Error](r.err)
			if !ok {
				found = &eval.Error{Kind: eval.Failed, Message: r.err.Error(), Offset: -1}
			}
			return eval.Fault{Err: found, From: at, Absent: found.Kind == eval.Undefined}
		}
		return forNames(copyIfOpen(r, v))
	})
}

// copyIfOpen keeps the values of others as they are where something in them is open.
func copyIfOpen(r *renderer, v any) any {
	if len(r.missing) == 0 {
		return v
	}
	return copyOf(v)
}

// lazy makes a layer of variables that are rendered where they are used. What has no template is what it is.
func (p *variables) lazyLayer(entries []playbook.Entry, parent *layer, from string, chain []string) *layer {
	if len(entries) == 0 {
		return parent
	}
	l := &layer{parent: parent}
	for _, e := range entries {
		l.add(p.lazyBinding(e.Key, e.Value, from, origin(e.Pos, chain)))
	}
	return l
}

func (p *variables) lazyBinding(name string, v playbook.Value, from string, at Origin) binding {
	p.noteName(name)
	b := binding{name: name, from: from, origin: at}
	if templatedIn(v) {
		b.lazy, b.raw = true, v
		return b
	}
	b.value = asWritten(v)
	return b
}

// templatedIn reports whether anything in a value is to be rendered.
func templatedIn(v playbook.Value) bool {
	switch v.Kind() {
	case playbook.String:
		return !v.Literal() && eval.Templated(v.Text())
	case playbook.List:
		return slices.ContainsFunc(v.Items(), templatedIn)
	case playbook.Map:
		return slices.ContainsFunc(v.Entries(), func(e playbook.Entry) bool { return templatedIn(e.Value) })
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float:
	}
	return false
}

// machine is the host of a name; it makes one that no inventory has.
func (p *fleet) machine(name string) *machine {
	if m, ok := p.machines[name]; ok {
		return m
	}
	m := &machine{name: name, host: p.inventory.Host(name), gatherer: -1, use: p.facts}
	m.names = &names{
		factsMap: p.here.factsMap, costly: p.here.costly, started: p.here.started, files: p.names.files, extra: p.names.extra,
		root: p.names.root, of: m,
	}
	m.names.document.now, m.names.shownVars.now, m.names.shownDefaults.now = p.names.document.now, p.names.document.now, p.names.document.now
	m.names.produced.now, m.handed.now = p.names.produced.now, p.names.produced.now
	p.settle(m)
	p.machines[name] = m
	return m
}

// inventoryFor are the variables that the inventory has for a host in the plays of a scene.
func (m *machine) inventoryFor(sc *scene) *layer {
	switch {
	case len(m.inventory) == 0: // no inventory has it
		return nil
	case sc == nil:
		return m.inventory[0]
	}
	return m.inventory[sc.beside]
}

// inventoryLayers are the variables that an inventory has for a host. Those of groups are shared.
func (p *fleet) inventoryLayers(h *inventory.Host, beside string) *layer {
	var chain *layer
	for _, l := range p.inventory.Layers(h, beside) {
		shared, ok := p.layers[layerKey{l, chain}]
		if !ok {
			shared = &layer{parent: chain}
			for _, v := range l.Vars {
				p.learnNamed(v, l.From)
				shared.add(p.lazyBinding(v.Name, v.Value, l.From, origin(v.Value.Pos(), nil)))
			}
			p.layers[layerKey{l, chain}] = shared
		}
		chain = shared
	}
	return chain
}

// layerKey is a layer of the inventory upon those below it.
type layerKey struct {
	of    *inventory.Layer
	below *layer
}

// knownMachine is a host that exists: of the inventory, or one that a play or a delegation has named. In a run several steps may ask
// at once for one that no play is for.
func (p *fleet) knownMachine(name string) *machine {
	p.asking.Lock()
	defer p.asking.Unlock()
	if m, ok := p.machines[name]; ok {
		return m
	}
	if p.inventory.Host(name) == nil && !isLocalhost(name) {
		return nil
	}
	return p.machine(name)
}

func isLocalhost(name string) bool {
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}
