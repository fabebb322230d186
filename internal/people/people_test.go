package people

import "testing"

func TestDemand(t *testing.T) {
	ops := &Demand{By: 2, Group: "ops"}
	ada, bob := Person{User: "ada", Groups: []string{"ops"}}, Person{User: "bob", Groups: []string{"dev"}}
	for _, tt := range []struct{ name, got, want string }{
		{"none yet", ops.Missing(nil), "2 people of the group ops"},
		{"one", ops.Missing([]string{"ada"}), "1 more person of the group ops"},
		{"enough", ops.Missing([]string{"ada", "eve"}), ""},
		{"one of all", (&Demand{By: 1}).Missing(nil), "1 person"},
		{"a member", ops.Refuse(ada, nil), ""},
		{"twice", ops.Refuse(ada, []string{"ada"}), "ada has confirmed it already; it needs 1 more person of the group ops"},
		{"of another group", ops.Refuse(bob, nil), "bob is not in the group ops"},
		{"unknown", ops.Refuse(Person{Groups: []string{"ops"}}, nil), "it is not known who confirms it, and it needs 2 people of the group ops"},
		{"no demand", (*Demand)(nil).Asked("really?", nil), "really?"},
		{"asked", ops.Asked("really?", []string{"ada"}), "really? (needs 2 people of the group ops; confirmed by ada)"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
	if (&Demand{By: 2}).Admits(Person{}) {
		t.Error("a person without a name counts")
	}
}
