package planfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/engine/planfile"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/source"
)

// neighbours are a playbook and what it uses next to its directory, whose places it names.
var neighbours = map[string]string{
	"books/site.yml": `
- hosts: web
  roles: [r]
  tasks:
    - shell: "ls {{ inventory_dir }} {{ playbook_dir }}/x; echo {{ own }}"
    - copy: {src: ../roles/r/files/f, dest: /tmp/f}
`,
	"inv/hosts":                 "[web]\nw1\nw2\n",
	"inv/group_vars/web.yml":    "own: 1\n",
	"roles/r/tasks/main.yml":    "- template: {src: t.j2, dest: /tmp/t}\n- debug: {msg: \"{{ role_path }}\"}\n",
	"roles/r/templates/t.j2":    "{{ own }} in {{ role_path }}\n",
	"roles/r/files/f":           "f",
	"roles/r/defaults/main.yml": "size: 1\n",
}

func neighboursOptions(dir string) plan.Options {
	o := reachable()
	o.Path, o.Dir = filepath.Join(dir, "books/site.yml"), filepath.Join(dir, "books")
	o.Hosts.Inventory, o.RolesPath = []string{"../inv/hosts"}, []string{filepath.Join(dir, "roles")}
	return o
}

// TestMoved reads a plan where the project is in another directory: the same plan, of what is there.
func TestMoved(t *testing.T) {
	was := write(t, neighbours)
	o := neighboursOptions(was)
	p, _ := planner.New(o)
	doc := savedPlan(t, o)
	now := filepath.Join(t.TempDir(), "another")
	if err := os.Rename(was, now); err != nil {
		t.Fatal(err)
	}
	moved, err := planfile.Move(doc, source.Moved{{From: was, To: now}})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := planfile.Read(moved, reachable(), version)
	if err != nil {
		t.Fatal(err)
	}
	q := kept.Plan
	if q.Digest != p.Digest || q.Root != filepath.Join(now, "books") || len(kept.Stale)+len(kept.Lost) > 0 {
		t.Errorf("%s and %s, in %s; stale %v", p.Digest, q.Digest, q.Root, kept.Stale)
	}
	for i := range q.Steps {
		if q.Steps[i].Digest != p.Steps[i].Digest {
			t.Errorf("%s is another step", q.Steps[i].Path)
		}
	}
	// A run keeps the plan, and makes it again from what it has kept.
	var again bytes.Buffer
	if err := planfile.Write(&again, q, kept.Graph, nil, version); err != nil {
		t.Fatal(err)
	}
	if third, err := planfile.Read(again.Bytes(), reachable(), version); err != nil || third.Plan.Digest != p.Digest {
		t.Errorf("read back where it is: %v", err)
	}
	if strings.Contains(string(again.Bytes()), `"cmd": "ls `+was) || !strings.Contains(again.String(), `"cmd": "ls `+now) {
		t.Error("the command does not name the place where it is")
	}

	if err := os.WriteFile(filepath.Join(now, "roles/r/files/f"), []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	if kept, err := planfile.Read(moved, reachable(), version); err != nil || len(kept.Lost) != 1 || len(kept.Stale) != 1 {
		t.Errorf("an edited file: %+v, %v", kept, err)
	}
	for name, change := range map[string][2]string{
		"a command":    {"; echo", "; evil"},
		"a text":       {"in {{ role_path", "of {{ role_path"},
		"an inventory": {`[web]\nw1`, `[web]\nw3`},
		"from":         {`"from":"` + was, `"from":"` + was + "x"},
		"to":           {`"to":"` + now, `"to":"` + now + "x"},
		"a word":       {`"moved": [`, `"moved": [{"from":"ls","to":"rm"},`},
		"all":          {`"moved": [`, `"moved": [{"from":"/","to":"/tmp"},`},
	} {
		other := strings.Replace(string(moved), change[0], change[1], 1)
		if other == string(moved) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := planfile.Read([]byte(other), reachable(), version); err == nil {
			t.Errorf("%s was changed, and it was read", name)
		}
	}
}
