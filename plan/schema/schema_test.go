package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/playbook"
	"moon/plan/schema"
)

const golden = "testdata/playbook.schema.json"

func TestGolden(t *testing.T) {
	got, err := schema.Playbook()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := schema.Playbook()
		if err != nil || !bytes.Equal(got, again) {
			t.Fatal("the schema is not the same every time", err)
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the schema is not %s; UPDATE=1 rewrites it, read the diff", golden)
	}
}

func document(t *testing.T) map[string]any {
	t.Helper()
	text, err := schema.Playbook()
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// compiled are the schema in both drafts: what one takes, the other takes.
func compiled(t *testing.T) drafts {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schema.ID, document(t)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schema.ID)
	if err != nil {
		t.Fatal(err)
	}
	return drafts{s, compiled07(t)}
}

func compiled07(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := schema.Playbook07()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) { // as editors have it: with (?!
		re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
		return ecma{re}, err
	})
	if err := c.AddResource(schema.StoreID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schema.StoreID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type ecma struct{ *regexp2.Regexp }

func (e ecma) MatchString(text string) bool {
	ok, err := e.Regexp.MatchString(text)
	return ok && err == nil
}

// drafts is the schema in 2020-12 and in draft-07.
type drafts struct{ s, s07 *jsonschema.Schema }

// Validate holds a value against both. If they do not agree, neither does anything.
func (d drafts) Validate(v any) error {
	err, err07 := d.s.Validate(v), d.s07.Validate(v)
	if (err == nil) != (err07 == nil) {
		panic(fmt.Sprintf("2020-12 says %v, draft-07 says %v, of %v", err, err07, v))
	}
	return err
}

// TestDraft07 has nothing in the schema that a strict validator does not know in draft-07.
func TestDraft07(t *testing.T) {
	text, err := schema.Playbook07()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"$defs"`, `"dependentRequired"`, `"dependentSchemas"`, `"patternErrorMessage"`, `"unevaluatedProperties"`, `"prefixItems"`} {
		if bytes.Contains(text, []byte(key)) {
			t.Errorf("it has %s", key)
		}
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	refs := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(at, e)
			}
		case map[string]any:
			if v["$ref"] != nil {
				refs++
				if len(v) > 1 {
					t.Errorf("%s: something stands next to $ref, which the draft ignores", at)
				}
			}
			for key, e := range v {
				walk(at+"/"+key, e)
			}
		}
	}
	walk("", doc)
	if refs < 100 {
		t.Errorf("only %d references were looked at", refs)
	}
}

// TestPluginActions takes steps with actions of plugins, which the schema cannot know: those of the example, and no others.
func TestPluginActions(t *testing.T) {
	s := compiled(t)
	text, err := os.ReadFile("../../examples/plugins/playbook.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value(t, text)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"- {motd.line: {}, shell: x}", "- {motd.line: {}, ansible.builtin.shell: x}", "- {ansible.builtin.nosuch: x}", "- {Motd.line: {}}",
		"- {motd: {}}", "- {motd.line: {}, nam: x}",
	} {
		if s.Validate(value(t, []byte(bad))) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestMetaschema(t *testing.T) {
	doc := document(t)
	meta, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	if doc["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("$schema is %v", doc["$schema"])
	}
	if err := meta.Validate(doc); err != nil {
		t.Error(err)
	}
}

// TestEverythingIsDescribed walks the schema: an editor shows the description of what the cursor is on.
func TestEverythingIsDescribed(t *testing.T) {
	defs := document(t)["$defs"].(map[string]any)
	seen := map[string]bool{}
	var walk func(path string, s any)
	walk = func(path string, s any) {
		m, ok := s.(map[string]any)
		if !ok {
			return
		}
		for name, p := range properties(m) {
			doc, _ := p["description"].(string)
			if strings.TrimSpace(doc) == "" {
				t.Errorf("%s.%s has no description", path, name)
			}
			seen[strings.TrimPrefix(path, "action.")+"."+name] = true
			walk(path+"."+name, p)
		}
	}
	for name, s := range defs {
		walk(name, s)
	}
	want := []string{"step.block", "step.include_tasks", "document.steps", "loop_control.label", "assert.http.url"}
	for i := range playbook.Keys {
		if k := &playbook.Keys[i]; k.Supported() {
			for _, name := range append([]string{k.Name}, k.Aliases...) {
				want = append(want, "step."+name)
			}
		}
	}
	for _, a := range spec.All() {
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			want = append(want, "step."+name)
		}
		for _, f := range a.Fields() {
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				want = append(want, a.Name+"."+name)
			}
		}
	}
	for _, name := range want {
		if !seen[name] {
			t.Errorf("the schema lacks %s", name)
		}
	}
}

func properties(s map[string]any) map[string]map[string]any {
	all := map[string]map[string]any{}
	m, _ := s["properties"].(map[string]any)
	for name, p := range m {
		all[name], _ = p.(map[string]any)
	}
	return all
}

// value reads YAML as an editor does: merged maps resolved, dates left as text.
func value(t *testing.T, text []byte) any {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	var dates func(n *yaml.Node)
	dates = func(n *yaml.Node) {
		if n.ShortTag() == "!!timestamp" {
			n.Tag = "!!str"
		}
		for _, c := range n.Content {
			dates(c)
		}
	}
	dates(&n)
	var v any
	if err := n.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// moonTakes reports whether moon plans the playbook, and which of the files that it read are playbooks.
func moonTakes(path string) (ok bool, playbooks []string) {
	inventory := filepath.Join(filepath.Dir(path), "inventory")
	if _, err := os.Stat(inventory); err != nil {
		if inventory, err = filepath.Abs("../../testdata/ansible/inventory"); err != nil {
			return false, nil
		}
	}
	p, _ := planner.New(plan.Options{
		Path: path, Dir: filepath.Dir(path), Hosts: plan.HostSelection{Inventory: []string{inventory}},
		Home: "/home/ada", User: "ada", Facts: plan.KnownFacts{Here: map[string]any{
			"os": "linux", "linux": true, "cpu_cores": 4, "env": map[string]any{"LANG": "C"},
		}},
	})
	if p == nil {
		return false, nil
	}
	known := playbook.Actions{Canonical: func(name string) (string, bool) { _, ok := spec.Lookup(name); return name, ok }}
	for _, in := range p.Inputs {
		file := filepath.Join(p.Root, in.Path)
		text, err := os.ReadFile(file)
		if err != nil || filepath.Ext(file) != ".yml" {
			continue
		}
		var ds diag.List
		playbook.Parse(&playbook.File{Name: file, Text: text}, known, &ds)
		if !ds.HasErrors() {
			playbooks = append(playbooks, file)
		}
	}
	return true, playbooks
}

// TestFixtures holds every playbook in the project's testdata that moon plans, and what it includes, against the
// schema.
func TestFixtures(t *testing.T) {
	s := compiled(t)
	n := 0
	check := func(path string) {
		_, files := moonTakes(path)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n++
			if err := s.Validate(value(t, text)); err != nil {
				t.Errorf("%s: moon takes it, the schema does not: %v", file, err)
			}
		}
	}
	for _, dir := range []string{"../../testdata", "../testdata", "../playbook/testdata", "../../engine/graph/testdata"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			switch filepath.Ext(path) {
			case ".yml":
				check(path)
			case ".txtar":
				for _, file := range unpack(t, path) {
					check(file)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 40 {
		t.Errorf("only %d playbooks were found", n)
	}
}

// unpack writes the files of an archive and returns the paths of those that are YAML.
func unpack(t *testing.T, path string) []string {
	t.Helper()
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range ar.Files {
		if f.Name == "tree" {
			continue // what is expected; a directory of that name may be beside it
		}
		file := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(file) == ".yml" {
			files = append(files, file)
		}
	}
	return files
}

// forms are playbooks that both moon and the schema must take, for what the fixtures leave out.
var forms = []string{
	"[]",
	"steps: []",
	"x-anchors: [1, {a: b}]\nsteps: [{shell: x}]",
	"version: 1\nname: n\nvars: {a: 1}\nstrategy: graph\nparallel: 4\nsteps: [{print: a}]",
	"- shell: |\n    a\n    b",
	"- shell: {cmd: a, interpreter: bash, stdin: null}",
	"- ansible.builtin.shell: x",
	"- ansible.builtin.command: [ls, 1, true]",
	"- command: ls -l",
	"- debug: {msg: [1, {a: b}]}",
	"- print: [a, b]",
	"- print: 5",
	"- fail:",
	"- file: path=/x state=touch",
	"- file: {dest: /x, state: \"{{ 'touch' }}\", mode: 0644, recurse: \"{{ false }}\"}",
	"- file: {path: /x, mode: u+x}",
	"- copy: {content: {a: 1}, dest: /x, force: no}",
	"- copy: {content: a}\n  args: {dest: /x}",
	"- copy:\n  args: {content: a, dest: /x}",
	"- set_fact: {anything: [1], cacheable: yes}",
	"- assert: a.b is not defined",
	"- assert: {that: [cpu_cores > 1, true]}",
	"- assert: {http: {url: \"http://x\", status: \"{{ 200 }}\", headers: {a: b}, body: [1]}}",
	"- wait: {port: 80, timeout: 1m30s, interval: 0.5}",
	"- wait_for: {path: /x, state: absent, timeout: \"{{ 3 }}\"}",
	"- shell: x\n  timeout: 30\n  retries: \"{{ 1 + 1 }}\"\n  retry_delay: 500ms\n  until: rc == 0",
	"- shell: x\n  retries: 1\n  delay: 5",
	"- shell: x\n  env: {A: 1, B: true, C: null, D: [e]}\n  cwd: /tmp",
	"- shell: x\n  environment: {A: b}\n  chdir: /tmp",
	"- shell: x\n  when: [true, a is not defined]\n  tags: a\n  ignore_errors: true\n  changed_when: false",
	"- shell: x\n  loop: [1, 2]\n  loop_control: {loop_var: n, limit: 2, label: \"{{ n }}\"}",
	"- shell: x\n  with_items: {a: 1}",
	"- shell: x\n  with_items: 1..3",
	"- shell: x\n  id: a.b\n- shell: y\n  needs: [{a.b: failure}]\n- shell: z\n  needs: {a.b: changed}\n- shell: z\n  needs: a.b",
	"- shell: x\n  confirm: true\n  no_log: \"{{ true }}\"",
	"- shell: x\n  vars:",
	"- block:\n    - shell: x\n  rescue:\n    - block: [{shell: y}]\n      always: [{shell: z}]\n  always: []\n  parallel: 2\n  vars: {a: 1}",
	"- vars: {a: 1}\n  when: true\n  tags: [b]\n  name: n",
	"vars_prompt: [{name: which, prompt: Which one, default: x, private: false}]\nsteps: [{shell: x}]",
	"steps:\n  - shell: x\n    notify: again\n  - block: [{shell: y}]\n    notify: [again, more]\nhandlers:\n  - name: again\n    listen: more\n    shell: x\nforce_handlers: true",
	"-\n- shell: x",
	"- &a\n  shell: x\n- *a\n- <<: *a\n  name: b",
	"plays:\n  - hosts: [h1, h2]\n    serial: [1, 50%]\n    tasks:\nvars: {a: 1}",
	"- hosts: h1\n  gather_facts: no\n  handlers: [{name: again, listen: [more], ansible.builtin.shell: x}]\n  tasks: [{ansible.builtin.command: {argv: [x]}, notify: again}]",
	"- hosts: h1\n  gather_facts: no\n  tasks:\n    - {shell: x, loop: [1], loop_control: {index_var: n}, register: r, failed_when: [r.rc > 1], delegate_to: h2, run_once: true}\n    - block: [{ping: }]\n      rescue: [{fail: msg=x}]\n      always: [{meta: noop}]",
}

func TestForms(t *testing.T) {
	s := compiled(t)
	for _, text := range forms {
		path := filepath.Join(t.TempDir(), "playbook.yml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if ok, _ := moonTakes(path); !ok {
			t.Errorf("moon does not take this, so it proves nothing:\n%s", text)
		}
		if err := s.Validate(value(t, []byte(text))); err != nil {
			t.Errorf("moon takes this, the schema does not:\n%s\n%v", text, err)
		}
	}
}

// mistakes are playbooks that neither moon nor the schema may take.
var mistakes = []string{
	"just text",
	"name: no steps",
	"stepz: []",
	"steps: [{shell: x}]\nfoo: 1",
	"steps: {shell: x}",
	"steps:",
	"version: 2\nsteps: []",
	"strategy: sideways\nsteps: []",
	"vars: [a]\nsteps: []",
	"vars: {1a: b}\nsteps: []",
	"- just text",
	"- name: nothing to do",
	"- shel: x",
	"- shell: x\n  whne: true",
	"- shell: x\n  print: y",
	"- shell: x\n  ansible.builtin.shell: y",
	"- shell: x\n  include: y.yml",
	"- block: [{shell: x}]\n  shell: y",
	"- shell: [a]",
	"- shell:",
	"- shell: {command: x}",
	"- shell: {interpreter: bash}",
	"- copy: {src: a}",
	"- copy: just text",
	"- file: {path: /x, state: directry}",
	"- file: {path: /x, recurse: perhaps}",
	"- file: {path: /x, mode: rwx}",
	"- file: {path: [a]}",
	"- file: [a]",
	"- assert: {http: {status: 200}}",
	"- assert: {file: {path: /x, sise: 1}}",
	"- wait: {port: eighty}",
	"- wait: {port: 80, timeout: soon}",
	"- wait: 5",
	"- shell: x\n  timeout: soon",
	"- shell: x\n  timeout: -3",
	"- shell: x\n  retries: many",
	"- shell: x\n  retries: -1",
	"- shell: x\n  register: 1st",
	"- shell: x\n  id: 1",
	"- shell: x\n  when: {a: b}",
	"- shell: x\n  when: 5",
	"- shell: x\n  tags: {a: b}",
	"- shell: x\n  with_items:",
	"- shell: x\n  with_items: [1]\n  loop_control: {loop_vra: x}",
	"- shell: x\n  id: a\n- shell: x\n  needs: {a: maybe}",
	"- shell: x\n  check_mode: perhaps",
	"- shell: x\n  env: [a]",
	"- shell: x\n  rescue: [{shell: y}]",
	"- shell: x\n  parallel: true",
	"- shell: x\n  vars: [a]",
	"- vars: {a: 1}\n  notify: restart",
	"- include: a.yml\n  register: r",
	"- include: {fil: a.yml}",
	"- include_vars: a.yml\n  with_items: [1]",
	"- block: [{shell: x}]\n  retries: 3",
	"- block: [{shel: x}]",
	"- block: [{shell: x}]\n  rescue: [{block: [{shell: x, print: y}]}]",
	"- block: [{shell: x}]\n  parallel: -1",
	"- vars: {a: 1}\n  register: b",
	"- vars: [a]",
	"plays: all",
	"plays: []\nparallel: 2",
	"- hosts: h1\n  task: []",
	"- tasks: [{shell: x}]",
	"- hosts: h1\n  tasks: {shell: x}",
	"- hosts: h1\n  tasks: [{shel: x}]",
	"- hosts: h1\n  tasks: [{shell: x, whne: true}]",
	"- hosts: h1\n  tasks: [{copy: {src: a, dst: b}}]",
	"- hosts: h1\n  tasks: [{shell: x, async: [5]}]",
	"- hosts: h1\n  tasks: [{shell: x, delegate_to: [h1]}]",
	"- hosts: h1\n  vars_prompt: [{prompt: which}]",
	"- hosts: h1\n  handlers: restart",
	"- import_playbook: more.yml\n  tasks: []",
}

func TestMistakes(t *testing.T) {
	s := compiled(t)
	for _, text := range mistakes {
		path := filepath.Join(t.TempDir(), "playbook.yml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if ok, _ := moonTakes(path); ok {
			t.Errorf("moon takes this, so it is no mistake:\n%s", text)
		}
		if s.Validate(value(t, []byte(text))) == nil {
			t.Errorf("the schema takes this mistake:\n%s", text)
		}
	}
}

// TestExamples holds the examples of the actions against the schema.
func TestExamples(t *testing.T) {
	s := compiled(t)
	for _, a := range spec.All() {
		if err := s.Validate(value(t, []byte(a.Example))); err != nil {
			t.Errorf("the example of %s: %v", a.Name, err)
		}
	}
}
