package inventory

import (
	"bytes"
	"path/filepath"

	"moon/plan/playbook"
)

// readProgram asks an executable inventory, which prints JSON: --list for the groups, and --host NAME for the variables of each host,
// unless the list has them under _meta.
func (inv *Inventory) readProgram(path string) {
	listed, ok := inv.askProgram(path, "--list")
	if !ok {
		return
	}
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
		if meta.IsZero() {
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
