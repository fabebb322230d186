package inventory

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"moon/plan/playbook"
	"moon/secret"
)

// Vars are the variables of a host as its layers have them, the highest of each name, with secrets masked. Templates are not rendered.
func (inv *Inventory) Vars(h *Host) map[string]any { return plainVars(inv.Layers(h, inv.beside)) }

// groupVars are what a group itself gives.
func (inv *Inventory) groupVars(g *Group) map[string]any {
	sources, playbook := inv.dirsAround(inv.beside)
	return plainVars(slices.Concat([]*Layer{g.inline}, inv.readLayers(sources, "group_vars", g.Name),
		inv.readLayers(playbook, "group_vars", g.Name)))
}

func plainVars(layers []*Layer) map[string]any {
	vars := map[string]any{}
	for _, l := range layers {
		for _, v := range l.Vars {
			vars[v.Name] = plainValue(v.Value)
		}
	}
	return vars
}

func plainValue(v playbook.Value) any {
	if v.Secret() {
		return secret.Mask
	}
	switch v.Kind() {
	case playbook.Bool:
		return v.Bool()
	case playbook.Int, playbook.Float:
		// JSON cannot write infinity.
		if f, ok := v.Number().(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
			return v.Text() // there is no such number in JSON
		}
		return v.Number()
	case playbook.List:
		list := make([]any, 0, v.Len())
		for _, item := range v.Items() {
			list = append(list, plainValue(item))
		}
		return list
	case playbook.Map:
		m := map[string]any{}
		for _, e := range v.Entries() {
			m[e.Key] = plainValue(e.Value)
		}
		return m
	case playbook.String:
		return v.Text()
	case playbook.Null:
	}
	return nil
}

// List is what an executable inventory would print: the groups with those of their hosts that are given, and the hosts' variables.
func (inv *Inventory) List(hosts []*Host) map[string]any {
	in := hostSet(hosts)
	doc := map[string]any{}
	for _, g := range inv.Groups {
		entry := map[string]any{}
		// As in Ansible's list, `all` has no hosts of its own.
		if names := namesOf(g.Hosts, in); len(names) > 0 && g.Name != "all" {
			entry["hosts"] = names
		}
		var children []string
		for _, c := range g.Children {
			children = append(children, c.Name)
		}
		if len(children) > 0 {
			entry["children"] = children
		}
		if len(entry) > 0 {
			doc[g.Name] = entry
		}
	}
	vars := map[string]any{}
	for _, h := range hosts {
		if v := inv.Vars(h); len(v) > 0 {
			vars[h.Name] = v
		}
	}
	doc["_meta"] = map[string]any{"hostvars": vars}
	return doc
}

func namesOf(hosts []*Host, in map[*Host]bool) (names []string) {
	for _, h := range hosts {
		if in[h] {
			names = append(names, h.Name)
		}
	}
	return names
}

// WriteGraph draws a group with what is below it, of its hosts those that are given.
func (inv *Inventory) WriteGraph(w io.Writer, g *Group, hosts []*Host, vars bool) error {
	var b strings.Builder
	inv.drawGroup(&b, g, hostSet(hosts), vars, 0)
	_, err := io.WriteString(w, b.String())
	return err
}

func (inv *Inventory) drawGroup(b *strings.Builder, g *Group, in map[*Host]bool, vars bool, depth int) {
	drawBranch(b, depth, "@"+g.Name+":")
	for _, c := range g.Children {
		inv.drawGroup(b, c, in, vars, depth+1)
	}
	// The hosts of `all` stand in `ungrouped` or in other groups.
	if g.Name != "all" {
		for _, h := range g.Hosts {
			if !in[h] {
				continue
			}
			drawBranch(b, depth+1, h.Name)
			if vars {
				drawVars(b, inv.Vars(h), depth+2)
			}
		}
	}
	if vars {
		drawVars(b, inv.groupVars(g), depth+1)
	}
}

func drawBranch(b *strings.Builder, depth int, text string) {
	if depth > 0 {
		text = strings.Repeat("  |", depth) + "--" + text
	}
	b.WriteString(text + "\n")
}

func drawVars(b *strings.Builder, vars map[string]any, depth int) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		text, ok := vars[name].(string)
		if !ok {
			var line strings.Builder
			enc := json.NewEncoder(&line)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(vars[name]); err != nil {
				line.WriteString(err.Error())
			}
			text = strings.TrimSuffix(line.String(), "\n")
		}
		drawBranch(b, depth, fmt.Sprintf("{%s = %s}", name, strings.ReplaceAll(text, "\n", `\n`)))
	}
}
