package constructed

import (
	"maps"

	"moon/internal/diag"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// Generated is a host that a source for Ansible's plugin generator makes: one for each combination of what layers have.
type Generated struct {
	Name    string
	Pos     diag.Pos
	Parents []Parent
}

// Parent is a group that a host or another group is in.
type Parent struct {
	Name    string
	Pos     diag.Pos
	Vars    []playbook.Entry
	Parents []Parent
}

// Generate makes the hosts of a source, most of them at most. What is wrong goes to report.
func Generate(f *playbook.File, root playbook.Value, most int, report func(diag.Diagnostic)) (hosts []Generated) {
	s := source{f, report}
	s.checkKeys(root, []string{"plugin", "hosts", "layers"}, "the plugin generator")
	pattern, layers := s.partOf(root, "hosts", playbook.Map), s.partOf(root, "layers", playbook.Map)
	name, ok := pattern.Get("name")
	if !ok || layers.IsZero() {
		s.failAt(root.Pos(), "write `hosts:` with a `name:`, and `layers:` with a list of values for each name in it",
			"the plugin generator needs `hosts` with a `name`, and `layers`")
		return nil
	}
	s.checkKeys(pattern, []string{"name", "parents"}, "`hosts`")
	parents, _ := pattern.Get("parents")
	x := newExpressions()
	for _, names := range s.combine(layers, most) {
		host, ok := s.render(x, name, names)
		if !ok { // what is wrong with one is wrong with all
			return nil
		}
		above, ok := s.parentsOf(x, parents, names)
		if !ok {
			return nil
		}
		hosts = append(hosts, Generated{Name: host, Pos: name.Pos(), Parents: above})
	}
	return hosts
}

// combine are all combinations of the values of layers, the last one changing first.
func (s source) combine(layers playbook.Value, most int) []plainNames {
	combinations := []plainNames{{}}
	for _, layer := range layers.Entries() {
		if layer.Value.Kind() != playbook.List {
			s.failAt(layer.Value.Pos(), "", "a layer is a list of values; `%s` is %s", layer.Key, layer.Value.Kind())
			return nil
		}
		if len(combinations)*layer.Value.Len() > most {
			s.failAt(layer.Pos, "", "these are more than %d hosts", most)
			return nil
		}
		var next []plainNames
		for _, so := range combinations {
			for _, item := range layer.Value.Items() {
				names := maps.Clone(so)
				names[layer.Key] = (&hostNames{x: newExpressions()}).valueOf(item)
				next = append(next, names)
			}
		}
		combinations = next
	}
	return combinations
}

// render is a text with the values of the layers.
func (s source) render(x *expressions, v playbook.Value, names plainNames) (string, bool) {
	made, err := x.evaluate(v.Text(), names)
	if err != nil {
		s.failAt(v.Pos(), "", "it cannot be rendered: %s", err)
		return "", false
	}
	return value.PythonText(made), true
}

// parentsOf are the groups that a list says, with those that they are in.
func (s source) parentsOf(x *expressions, list playbook.Value, names plainNames) (parents []Parent, ok bool) {
	for _, p := range list.Items() {
		written, ok := p.Get("name")
		if !ok {
			s.failAt(p.Pos(), "write `- name: …`", "a parent has no `name`")
			return nil, false
		}
		s.checkKeys(p, []string{"name", "parents", "vars"}, "a parent")
		name, ok := s.render(x, written, names)
		if !ok {
			return nil, false
		}
		parent := Parent{Name: name, Pos: written.Pos()}
		vars, _ := p.Get("vars")
		for _, e := range vars.Entries() {
			text, ok := s.render(x, e.Value, names)
			if !ok {
				return nil, false
			}
			f := &playbook.File{Name: s.file.Name, Path: s.file.Path}
			e.Value = playbook.Literal(f, text, e.Value.Pos().Line, nil)
			parent.Vars = append(parent.Vars, e)
		}
		above, _ := p.Get("parents")
		if parent.Parents, ok = s.parentsOf(x, above, names); !ok {
			return nil, false
		}
		parents = append(parents, parent)
	}
	return parents, true
}
