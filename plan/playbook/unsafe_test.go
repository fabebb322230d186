package playbook_test

import (
	"testing"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// !unsafe keeps every text of a value from being a template, and nothing else: not the numbers in it, not what stands beside it.
func TestUnsafe(t *testing.T) {
	f := &playbook.File{Name: "vars.yml", Text: []byte("one: !unsafe '{{ a }}'\nlist: !unsafe ['{{ a }}', 5, {deep: '{{ a }}'}]\nother: '{{ a }}'\n")}
	var ds diag.List
	m, ok := playbook.Document(f, &ds)
	if !ok || len(ds) > 0 {
		t.Fatal(ok, ds)
	}
	get := func(v playbook.Value, key string) playbook.Value {
		got, _ := v.Get(key)
		return got
	}
	list := get(m, "list").Items()
	for name, c := range map[string]struct {
		v       playbook.Value
		literal bool
		kind    playbook.Kind
	}{
		"a text":            {get(m, "one"), true, playbook.String},
		"an item":           {list[0], true, playbook.String},
		"a number":          {list[1], true, playbook.Int},
		"deep in a list":    {get(list[2], "deep"), true, playbook.String},
		"what stands aside": {get(m, "other"), false, playbook.String},
	} {
		if c.v.Literal() != c.literal || c.v.Kind() != c.kind || c.v.Secret() {
			t.Errorf("%s: literal %v, %v, secret %v", name, c.v.Literal(), c.v.Kind(), c.v.Secret())
		}
	}
}
