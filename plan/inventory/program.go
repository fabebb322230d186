package inventory

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/constructed"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// readProgram asks an executable inventory, which prints JSON: --list for the groups, and --host NAME for the variables of each host,
// unless the list has them under _meta.
func (inv *Inventory) readProgram(path string) {
	if listed, ok := inv.askProgram(path, "--list"); ok {
		inv.readPrinted(path, listed)
	}
}

// readPrinted takes what a program or a plugin says.
func (inv *Inventory) readPrinted(path string, listed playbook.Value) {
	if listed.Kind() != playbook.Map {
		inv.failAt(listed.Pos(), "", "what an executable inventory prints is a map of groups; this is %s", listed.Kind())
		return
	}
	var names []string // of its hosts, in order
	var meta playbook.Value
	for _, e := range listed.Entries() {
		// With _meta the program need not be asked for each host, which may take seconds.
		if e.Key == "_meta" {
			meta, _ = e.Value.Get("hostvars")
			continue
		}
		names = append(names, inv.programGroup(path, e)...)
	}
	asked := map[string]bool{}
	for _, name := range names {
		if asked[name] || inv.ds.Full() {
			continue
		}
		asked[name] = true
		vars, _ := meta.Get(name)
		if _, _, plugin := spec.PluginOf(path); meta.IsZero() && !plugin {
			var ok bool
			vars, ok = inv.askProgram(path, "--host", name)
			if !ok {
				return // the next would fail as well
			}
		}
		if kind := vars.Kind(); kind != playbook.Map && kind != playbook.Null {
			inv.failAt(vars.Pos(), "", "the variables of the host `%s` are a map; this is %s", name, kind)
			continue
		}
		for _, v := range vars.Entries() {
			inv.hosts[name].inline.setVar(v.Key, v.Value)
		}
	}
}

// askProgram starts the program.
func (inv *Inventory) askProgram(path string, args ...string) (playbook.Value, bool) {
	name := filepath.Base(path)
	at := inv.fileStart(path)
	if inv.from.Run == nil {
		inv.failAt(at, "", "executable inventories are not started here")
		return playbook.Value{}, false
	}
	out, err := inv.from.Run(path, args...)
	if err != nil {
		inv.failAt(at, "if it is not a program, remove the execute permission: chmod -x "+name, "the executable inventory failed: %s", err)
		return playbook.Value{}, false
	}
	f := &playbook.File{Name: "output of " + name + " " + args[0], Path: path, Text: out}
	if args[0] == "--host" {
		f.Name += " " + args[1]
		// No output means that the host has no variables.
		if len(bytes.TrimSpace(out)) == 0 { // says: none
			return playbook.Value{}, true
		}
	}
	return playbook.JSON(f, inv.ds)
}

// programGroup reads a group: a list of hosts, or a map with hosts, vars and children, or the variables of a host of that name.
func (inv *Inventory) programGroup(path string, e playbook.Entry) (hosts []string) {
	g := inv.findGroup(e.Key, e.Pos)
	list := e.Value
	if e.Value.Kind() == playbook.Map {
		var given [3]playbook.Value
		known := false
		for i, key := range groupKeys {
			var ok bool
			given[i], ok = e.Value.Get(key)
			known = known || ok
		}
		// A map without any of the keys is an old form: variables of a host.
		if !known {
			inv.programVars(g, e.Value)
			addMember(g, inv.findHost(e.Key, path, e.Pos))
			return []string{e.Key}
		}
		list = given[0]
		inv.programVars(g, given[1])
		for _, child := range given[2].Items() {
			inv.addChild(g, inv.findGroup(child.Text(), child.Pos()), child.Pos())
		}
	}
	if kind := list.Kind(); kind != playbook.List && kind != playbook.Null {
		inv.failAt(list.Pos(), "", "the hosts of the group `%s` are a list; this is %s", e.Key, kind)
		return nil
	}
	for _, item := range list.Items() {
		name := item.Text()
		if name == "" {
			inv.failAt(item.Pos(), "", "the name of a host is empty")
			continue
		}
		addMember(g, inv.findHost(name, path, item.Pos()))
		hosts = append(hosts, name)
	}
	return hosts
}

func (inv *Inventory) programVars(g *Group, vars playbook.Value) {
	if kind := vars.Kind(); kind != playbook.Map && kind != playbook.Null {
		inv.failAt(vars.Pos(), "", "the variables of the group `%s` are a map; this is %s", g.Name, kind)
		return
	}
	for _, v := range vars.Entries() {
		inv.setGroup(g, v.Key, v.Value)
	}
}

// pluginReader reads sources of an inventory that are for a plugin.
type pluginReader struct{ *Inventory }

// readNamed reads a source with the plugin that its name says.
func (inv pluginReader) readNamed(written, plugin, source string) {
	switch shortName(plugin) {
	case "host_list":
		inv.addList(source)
	case "advanced_host_list":
		inv.addRanges(source)
	default:
		inv.ask(inv.fileStart(written), plugin, source)
	}
}

// addRanges takes hosts that are given by name, with ranges in them.
func (inv pluginReader) addRanges(list string) {
	for written := range strings.SplitSeq(list, ",") {
		name, port := splitPort(strings.TrimSpace(written))
		names, err := inv.expandName(name)
		if err != nil { // as Ansible, which takes it for a name
			names = []string{strings.TrimSpace(written)}
		}
		for _, name := range names {
			if name == "" || inv.hosts[name] != nil {
				continue
			}
			addListed(inv.Inventory, name, port, list)
		}
	}
}

// readConfigured reads a YAML file that says which plugin it is for.
func (inv pluginReader) readConfigured(f *playbook.File, root, plugin playbook.Value) {
	switch name := shortName(plugin.Text()); {
	case plugin.Kind() != playbook.String || name == "":
		inv.failAt(plugin.Pos(), "write `plugin: NAME`", "`plugin` is the name of an inventory plugin; this is %s", plugin.Kind())
	case name == "constructed":
		inv.construct(f, root)
	case name == "generator":
		inv.generate(f, root)
	case slices.Contains(listPlugins, name):
		inv.failAt(plugin.Pos(), "give the hosts with -i, as in -i web1,web2", "the plugin %s reads lists of hosts, and no files", name)
	default:
		args := map[string]any{}
		for _, e := range root.Entries() {
			if e.Key == "plugin" {
				continue
			}
			// The program and its arguments are kept with the plan.
			if hasSecret(e.Value) {
				inv.failAt(e.Value.Pos(), "give it to the plugin in a variable of the environment", "a secret is not given to an inventory plugin in its file")
				return
			}
			args[e.Key] = plainValue(e.Value)
		}
		inv.ask(plugin.Pos(), plugin.Text(), f.Path, value.PythonJSON(args))
	}
}

// ask has a plugin read a source. Its answer is what a program prints for --list, with the variables of hosts under _meta, or in
// moon's own form: {hosts, groups, vars}.
func (inv pluginReader) ask(at diag.Pos, name, source string, args ...string) {
	if inv.from.Run == nil {
		inv.failAt(at, "", "inventory plugins are not started here")
		return
	}
	program := spec.PluginProgram("inventory", name)
	out, err := inv.from.Run(program, append([]string{source}, args...)...)
	if err != nil {
		inv.failAt(at, "", "the inventory plugin `%s` failed: %s", name, err)
		return
	}
	f := &playbook.File{Name: "answer of the inventory plugin " + name, Path: source, Text: out}
	said, ok := playbook.JSON(f, inv.ds)
	if !ok {
		return
	}
	own := said.Len() > 0
	for _, e := range said.Entries() {
		own = own && slices.Contains([]string{"hosts", "groups", "vars"}, e.Key)
	}
	if own {
		inv.readAnswer(source, said)
		return
	}
	inv.readPrinted(program, said)
}

// readAnswer reads moon's own form of an answer: hosts, as a list of names or a map with variables; groups, each as an executable
// inventory has it; and variables of all.
func (inv pluginReader) readAnswer(source string, said playbook.Value) {
	hosts, _ := said.Get("hosts")
	groups, _ := said.Get("groups")
	vars, _ := said.Get("vars")
	for _, item := range hosts.Items() {
		inv.findHost(item.Text(), source, item.Pos())
	}
	for _, e := range hosts.Entries() {
		h := inv.findHost(e.Key, source, e.Pos)
		if kind := e.Value.Kind(); kind != playbook.Map && kind != playbook.Null {
			inv.failAt(e.Value.Pos(), "", "the variables of the host `%s` are a map; this is %s", e.Key, kind)
			return
		}
		for _, v := range e.Value.Entries() {
			h.inline.setVar(v.Key, v.Value)
		}
	}
	for _, e := range groups.Entries() {
		inv.programGroup(source, e)
	}
	inv.programVars(inv.groups["all"], vars)
}

// construct gives the hosts that are there the variables and groups that a file says.
func (inv pluginReader) construct(f *playbook.File, root playbook.Value) {
	c, ok := constructed.NewConstruction(f, root, inv.ds.Add)
	if !ok {
		return
	}
	for _, h := range slices.Clone(inv.Hosts) {
		for _, e := range c.Compose(inv.hostSoFar(h, c.Files)) {
			h.inline.setVar(e.Key, e.Value)
		}
		// What was composed counts for the groups.
		for _, m := range c.Groups(inv.hostSoFar(h, c.Files)) {
			g := inv.findGroup(m.Group, m.Pos)
			addMember(g, h)
			if m.Parent != "" {
				inv.addChild(inv.findGroup(m.Parent, m.Pos), g, m.Pos)
			}
		}
		if inv.ds.Full() {
			return
		}
	}
}

// hostSoFar is a host with the variables of its groups and its own, as the sources before have said them. files takes those of
// group_vars and host_vars as well.
func (inv pluginReader) hostSoFar(h *Host, files bool) *constructed.Host {
	groups, depths := withAncestors(h.direct), map[*Group]int{}
	slices.SortFunc(groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(depthOf(a, depths), depthOf(b, depths)), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	of := &constructed.Host{Name: h.Name, Groups: []string{}, Vars: map[string]playbook.Value{}}
	var layers []*Layer
	for _, g := range groups {
		layers = append(layers, g.inline)
		if g.Name != "all" {
			of.Groups = append(of.Groups, g.Name)
		}
	}
	if files {
		layers = append(layers, inv.ofFiles(inv.sources, groups)...)
	}
	layers = append(layers, h.inline)
	if files {
		layers = append(layers, inv.readLayers(inv.sources, "host_vars", h.Name)...)
	}
	for _, l := range layers {
		for _, v := range l.Vars {
			of.Vars[v.Name] = v.Value
		}
	}
	slices.Sort(of.Groups)
	return of
}

// depthOf is how far a group is below the outermost that it is in, on the longest way.
func depthOf(g *Group, known map[*Group]int) int {
	if d, ok := known[g]; ok {
		return d
	}
	d := 0
	for _, p := range g.Parents {
		d = max(d, depthOf(p, known)+1)
	}
	known[g] = d
	return d
}

// generate adds the hosts that a file makes, with the groups that they are in.
func (inv pluginReader) generate(f *playbook.File, root playbook.Value) {
	for _, made := range constructed.Generate(f, root, mostHosts-len(inv.Hosts), inv.ds.Add) {
		h := inv.findHost(made.Name, f.Path, made.Pos)
		inv.addParents(made.Parents, func(g *Group, _ diag.Pos) { addMember(g, h) })
	}
}

func (inv pluginReader) addParents(parents []constructed.Parent, add func(g *Group, at diag.Pos)) {
	for _, p := range parents {
		g := inv.findGroup(p.Name, p.Pos)
		for _, v := range p.Vars {
			inv.setGroup(g, v.Key, v.Value)
		}
		add(g, p.Pos)
		inv.addParents(p.Parents, func(above *Group, at diag.Pos) { inv.addChild(above, g, at) })
	}
}
