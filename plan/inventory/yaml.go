package inventory

import (
	"fmt"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan/playbook"
)

// readYAML reads an inventory whose keys are groups, each with hosts, vars and children.
func (inv *Inventory) readYAML(f *playbook.File) {
	f.LastCounts = true
	root, ok := playbook.Document(f, inv.ds)
	if !ok {
		return
	}
	switch root.AsPlays().Kind() {
	case playbook.Map:
	case playbook.Null:
		return
	default:
		inv.failAt(root.Pos(), "begin with `all:`, and below it `hosts:` with a name and a colon on each line",
			"an inventory is a map of groups; this is %s", root.Kind())
		return
	}
	// A file that configures an inventory plugin looks like an inventory.
	if plugin, ok := root.Get("plugin"); ok {
		pluginReader{inv}.readConfigured(f, root, plugin)
		return
	}
	for _, e := range root.Entries() {
		if !e.NoText {
			inv.yamlGroup(f, e)
		}
	}
}

var groupKeys = []string{"hosts", "vars", "children"}

// yamlGroup reads a group and those below it.
func (inv *Inventory) yamlGroup(f *playbook.File, e playbook.Entry) *Group {
	g := inv.findGroup(e.Key, e.Pos)
	switch e.Value.Kind() {
	case playbook.Map:
	case playbook.Null:
		return g
	default:
		inv.failAt(e.Value.Pos(), "put `hosts:`, `vars:` or `children:` below it", "the group `%s` is %s, not a map", e.Key, e.Value.Kind())
		return g
	}
	for _, part := range e.Value.Entries() {
		switch part.Key {
		case "hosts":
			inv.eachEntry(f, g, part, inv.yamlHost)
		case "vars":
			inv.eachEntry(f, g, part, func(_ *playbook.File, g *Group, e playbook.Entry) { inv.setGroup(g, e.Key, e.Value) })
		case "children":
			inv.eachEntry(f, g, part, inv.yamlChild)
		default:
			hint := suggest.DidYouMean(part.Key, groupKeys)
			if hint == "" {
				hint = "a group has hosts, vars and children; write hosts below `hosts:`, and groups below `children:`"
			}
			inv.ds.Add(diag.Diagnostic{
				Severity: diag.Warning, Pos: part.Pos, Width: utf8.RuneCountInString(part.Key), Hint: hint,
				Message: fmt.Sprintf("the key `%s` of the group `%s` means nothing", part.Key, e.Key),
			})
		}
	}
	return g
}

// eachEntry goes through a part of a group: a map, a single name, or nothing.
func (inv *Inventory) eachEntry(f *playbook.File, g *Group, part playbook.Entry, do func(*playbook.File, *Group, playbook.Entry)) {
	switch part.Value.Kind() {
	case playbook.Map:
		for _, e := range part.Value.Entries() {
			if !e.NoText {
				do(f, g, e)
			}
		}
	case playbook.Null:
	case playbook.String:
		// A single name instead of a map is one host or group.
		if part.Key != "vars" {
			do(f, g, playbook.Entry{Key: part.Value.Text(), Pos: part.Value.Pos()})
			return
		}
		fallthrough
	default:
		inv.failAt(part.Value.Pos(), "write a name and a colon on each line, without `-`", "`%s` of the group `%s` is a map; this is %s",
			part.Key, g.Name, part.Value.Kind())
	}
}

func (inv *Inventory) yamlChild(f *playbook.File, g *Group, e playbook.Entry) {
	child := inv.yamlGroup(f, e)
	inv.addChild(g, child, e.Pos)
}

func (inv *Inventory) yamlHost(f *playbook.File, g *Group, e playbook.Entry) {
	width := utf8.RuneCountInString(e.Key)
	address, digits := splitPort(e.Key)
	names, err := inv.expandName(address)
	if err != nil {
		inv.ds.Add(diag.Diagnostic{Pos: e.Pos, Width: width, Message: err.Error()})
		return
	}
	if kind := e.Value.Kind(); kind != playbook.Map && kind != playbook.Null {
		inv.failAt(e.Value.Pos(), "write the host's variables below it, as `name: value`", "the host `%s` is %s, not a map", e.Key, kind)
		return
	}
	for _, name := range names {
		if name == "" {
			inv.failAt(e.Pos, "", "the name of a host is empty")
			return
		}
		h := inv.findHost(name, f.Path, e.Pos)
		addMember(g, h)
		// A port applies to each host of the range.
		if digits != "" {
			h.inline.setVar("ansible_port", inv.portValue(f, e, digits))
		}
		for _, v := range e.Value.Entries() {
			h.inline.setVar(v.Key, v.Value)
		}
	}
}

// portValue is the one behind the name of a host, at its place.
func (inv *Inventory) portValue(f *playbook.File, e playbook.Entry, digits string) playbook.Value {
	column := e.Pos.Column + utf8.RuneCountInString(e.Key) - len(digits)
	return playbook.Literal(f, digits, e.Pos.Line, columnsOf(digits, column))
}
