package playbook_test

import (
	"slices"
	"strings"
	"testing"

	"moon/plan/playbook"
)

// says reports whether a diagnostic of the playbook has the words in its message.
func says(text, words string) bool {
	_, ds := parse("x.yml", []byte(text))
	for _, d := range ds {
		if strings.Contains(d.Message, words) {
			return true
		}
	}
	return false
}

// TestEveryKeyIsDescribed holds the descriptions for editors and what the parser knows together: a key without
// description is one that the parser refuses, and a key that is described one that it knows.
func TestEveryKeyIsDescribed(t *testing.T) {
	for i := range playbook.Keys {
		k := &playbook.Keys[i]
		if k.Supported() && (k.Doc == "" || k.Shape() == 0) {
			t.Errorf("`%s` has doc %q and shape %d; see shape.go", k.Name, k.Doc, k.Shape())
		}
	}
	alone := func(name string) string { return "- " + name + ": x\n" }
	document := func(name string) string { return name + ": x\nsteps: []\n" }
	loop := func(name string) string { return "- shell: x\n  loop: [1]\n  loop_control: {" + name + ": x}\n" }
	for name := range playbook.DirectiveNames {
		if !describes(playbook.Directives, name) && !says(alone(name), "not supported yet") {
			t.Errorf("`%s` is supported and not described; see shape.go", name)
		}
	}
	for _, name := range playbook.DocumentKeyNames {
		if !describes(playbook.DocumentKeys, name) && !says(document(name), "not built yet") {
			t.Errorf("`%s` is supported and not described; see shape.go", name)
		}
	}
	for _, g := range []struct {
		described []playbook.Described
		playbook  func(name string) string
	}{{playbook.Directives, alone}, {playbook.DocumentKeys, document}, {playbook.LoopKeys, loop}} {
		for _, d := range g.described {
			if d.Doc == "" || d.Shape == 0 {
				t.Errorf("`%s` has doc %q and shape %d", d.Name, d.Doc, d.Shape)
			}
			for _, name := range append([]string{d.Name}, d.Aliases...) {
				if says(g.playbook(name), "unknown key") || says(g.playbook(name), "not supported yet") {
					t.Errorf("`%s` is described, and the parser does not take it", name)
				}
			}
		}
	}
}

func describes(all []playbook.Described, name string) bool {
	return slices.ContainsFunc(all, func(d playbook.Described) bool { return d.Name == name || slices.Contains(d.Aliases, name) })
}
