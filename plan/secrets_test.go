package plan_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/planner"
	"moon/plan/saved"
	"moon/plan/show"
	"moon/secret"
)

// planFiles plans a playbook with files beside it.
func planFiles(t *testing.T, dir string, files map[string]string, more func(*plan.Options)) *plan.Plan {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := plan.Options{
		Path: "playbook.yml", Dir: dir, Home: dir,
		Facts: plan.KnownFacts{Here: map[string]any{"env": map[string]any{"TOKEN": "t0ken-value"}}}, Secrets: secret.NewSet(),
	}
	if more != nil {
		more(&o)
	}
	p, ds := planner.New(o)
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

func document(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var doc bytes.Buffer
	if err := show.WriteJSON(&doc, p, nil); err != nil {
		t.Fatal(err)
	}
	sources, err := saved.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(sources)
	if err != nil {
		t.Fatal(err)
	}
	return doc.String() + string(kept)
}

const secretive = `vars_files: [all.secret.yml]
vars: {url: "https://{{ password }}@host"}
steps:
- name: "{{ password }}"
  shell: "x {{ url }} {{ password | sha1 }}"
  env: {A: "{{ password }}", B: "{{ env('TOKEN', secret) }}"}
  cwd: "/{{ password }}"
  when: "password != 'x'"
- shell: "{{ item }}"
  loop: ["{{ password }}", "{{ password }}2", plain]
`

// TestPlanIsTheSameWithAnotherSecret compares all that is known of two plans that differ in a secret alone: there is nothing in them
// by which the secret could be tried out.
func TestPlanIsTheSameWithAnotherSecret(t *testing.T) {
	dir := t.TempDir()
	var docs [2]string
	for i, password := range []string{"hunter2", "swordfish"} {
		p := planFiles(t, dir, map[string]string{"playbook.yml": secretive, "all.secret.yml": "password: " + password + "\n"}, nil)
		docs[i] = document(t, p)
		if p.Secrets().Has(docs[i]) {
			t.Errorf("it has a secret:\n%s", docs[i])
		}
	}
	if docs[0] != docs[1] {
		t.Errorf("the plans differ:\n%s\n%s", docs[0], docs[1])
	}
}

// TestPlanKnowsWhatItHasRead plans twice in one process: what the first plan, or a run, has learned does not change the second.
func TestPlanKnowsWhatItHasRead(t *testing.T) {
	dir, set := t.TempDir(), secret.NewSet()
	share := func(o *plan.Options) { o.Secrets = set }
	files := map[string]string{"playbook.yml": "- shell: echo production\n"}
	before := planFiles(t, dir, files, share)
	set.Add("", "production")
	after := planFiles(t, dir, files, share)
	if before.Digest != after.Digest || after.Steps[0].Summary != "echo production" {
		t.Errorf("%q, digests %s and %s", after.Steps[0].Summary, before.Digest, after.Digest)
	}
}

// TestSecretReadLate has a text in the plan before it is known to be secret.
func TestSecretReadLate(t *testing.T) {
	p := planFiles(t, t.TempDir(), map[string]string{
		"playbook.yml":   "- name: say hunter2\n  shell: echo hunter2\n- name: say hunter3\n  shell: echo hunter3\n- include_vars: all.secret.yml\n- print: '{{ a }}'\n",
		"all.secret.yml": "a: hunter2\nb: hunter3\n",
	}, nil)
	if doc := document(t, p); p.Secrets().Has(doc) {
		t.Errorf("it has a secret:\n%s", doc)
	}
	if p.Steps[0].Path == p.Steps[1].Path {
		t.Errorf("two steps have the path %s", p.Steps[0].Path)
	}
}

func TestSecretsOfFlags(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"playbook.yml":   "vars_files: [all.secret.yml]\nsteps: [print: '{{ password }}']\n",
		"all.secret.yml": "password: hunter2\n",
	}
	p := planFiles(t, dir, files, nil)
	o := p.With("password=typed-instead")
	with, ds := planner.New(o)
	if with == nil {
		t.Fatal(ds)
	}
	if got := with.Steps[0].Summary; got != secret.Mask {
		t.Errorf("what takes the place of a secret is shown: %q", got)
	}
	if _, err := saved.Of(with); err == nil || !strings.Contains(err.Error(), "--extra-vars holds a secret") {
		t.Errorf("it is kept: %v", err)
	}
}

func TestSecretParameter(t *testing.T) {
	p := planFiles(t, t.TempDir(), map[string]string{
		"playbook.yml": "- preset: {name: login, with: {user: ann, password: hunter2}}\n- shell: x\n  register: r\n- preset: {name: login, with: {user: bob, password: '{{ r.stdout }}'}}\n",
		"login.yml":    "parameters: {user: {}, password: {secret: true}}\nsteps: [{shell: './login {{ parameters.user }} {{ parameters.password }}'}]\n",
	}, nil)
	if got := p.Steps[0].Summary; got != "./login ann "+secret.Mask {
		t.Errorf("%q", got)
	}
	doc := document(t, p)
	if strings.Contains(doc, "hunter2") {
		t.Errorf("it has a secret:\n%s", doc)
	}
}
