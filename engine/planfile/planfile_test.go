package planfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/engine/graph"
	"moon/engine/planfile"
	"moon/internal/assault"
	"moon/plan"
	"moon/plan/planner"
	"moon/plan/saved"
)

const version = "test"

// machine is what the tests' machine says of itself.
func machine() plan.Options {
	return plan.Options{
		Home: "/home/ann", User: "ann",
		Facts: plan.KnownFacts{
			Here: map[string]any{
				"os": "linux", "arch": "amd64", "hostname": "box", "cpu_cores": 4, "distribution": "debian", "os_family": "debian",
				"package_manager": "apt", "apt_available": true, "home": "/home/ann", "username": "ann", "ip_addresses": []any{"192.0.2.1"},
				"env": map[string]any{"EDITOR": "vi", "TOKEN": "of-the-environment", "PATH": "/bin"},
			},
			Volatile: func() map[string]any { return map[string]any{"memory_free_mb": 100} },
			Costly:   map[string]func() any{"docker_version": func() any { return "27.1" }},
		},
	}
}

// everything uses whatever a plan can be made from.
var everything = map[string]string{
	"site.yml": `
name: everything
vars_files: [vars/common.yml]
vars: {region: "eu-{{ hostname }}"}
steps:
  - name: read
    id: read
    shell: "cat {{ region }} {{ memory_free_mb }}"
    register: got
    env: {EDITOR: "{{ env.EDITOR }}", D: "{{ facts.docker_version }}"}
  - vars: {later: "{{ got.stdout }}"}
  - include: tasks/web.yml
    vars: {port: 80}
    when: os == "linux"
  - preset: {name: site, with: {name: "{{ port_of_site }}"}}
  - name: "put {{ item.name }}"
    copy: {src: "{{ item.src }}", dest: "/tmp/x{{ item.path }}"}
    with_filetree: files
    when: item.state == "file"
  - name: hidden
    shell: "echo {{ env.TOKEN }} {{ item }}"
    no_log: true
    loop: "{{ region.split('-') }}"
  - template: {src: nothere.j2, dest: ~/out}
  - template: {src: conf.j2, dest: /tmp/conf}
    become: true
    become_user: ann
`,
	"vars/common.yml": "port_of_site: 8080\n",
	"tasks/web.yml":   "- name: web {{ port }}\n  shell: echo {{ later }}\n  needs: [read]\n- include: link.yml\n",
	"real.yml":        "- print: through a link\n",
	"presets/site.yml": `
name: site
parameters: {name: {type: string}}
steps: [{print: "site {{ parameters.name }}"}]
`,
	"files/a.txt":     "a",
	"files/sub/b.txt": "b",
	"conf.j2":         "host = {{ hostname }} {{ port_of_site }}\n",
}

func write(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// project writes everything, with a link in it.
func project(tb testing.TB) string {
	tb.Helper()
	dir := write(tb, everything)
	if err := os.Symlink("../real.yml", filepath.Join(dir, "tasks/link.yml")); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func savedPlan(tb testing.TB, o plan.Options) []byte {
	tb.Helper()
	p, ds := planner.New(o)
	if p == nil {
		tb.Fatal(ds)
	}
	g, err := graph.Build(p)
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if err := planfile.Write(&b, p, g, nil, version); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func options(dir string) plan.Options {
	o := machine()
	o.Path, o.Dir = filepath.Join(dir, "site.yml"), dir
	o.Values.Extra = []string{"x=1"}
	return o
}

func TestReadGivesThePlanThatWasSaved(t *testing.T) {
	dir := project(t)
	o := options(dir)
	o.Values.Extra, o.Values.Files = []string{"x=1", "@vars/common.yml"}, []string{"vars/common.yml"}
	o.Select.Skip, o.Select.Only = []string{"tasks/web.yml:1"}, []string{"*"}
	doc := savedPlan(t, o)
	got, err := planfile.Read(doc, machine(), version)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Stale) > 0 {
		t.Errorf("just saved, and stale: %q", got.Stale)
	}
	want, _ := planner.New(o)
	if got.Plan.Digest != want.Digest || len(got.Plan.Steps) != len(want.Steps) || len(got.Plan.Steps) < 9 {
		t.Errorf("%d steps, digest %s; saved were %d, %s", len(got.Plan.Steps), got.Plan.Digest, len(want.Steps), want.Digest)
	}
}

func TestSavedPlanIsTheSameEverywhere(t *testing.T) {
	one, two := project(t), project(t)
	if err := os.Symlink(two, filepath.Join(one, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	o := options(one)
	o.Values.Files, o.Select.Only, o.Values.Extra = []string{"vars/common.yml"}, []string{
		"tasks/web.yml:1",
		"read",
	}, []string{"@vars/common.yml"}
	first := savedPlan(t, o)
	o.Dir, o.Path = filepath.Join(two, "tasks"), filepath.Join(one, "elsewhere", "tasks", "..", "site.yml")
	o.Values.Files, o.Select.Only, o.Values.Extra = []string{"../vars/common.yml"}, []string{
		"web.yml:1",
		"read",
	}, []string{"@../vars/common.yml"}
	second := savedPlan(t, o)
	a, b := bytes.SplitAfterN(first, []byte("\n"), 4), bytes.SplitAfterN(second, []byte("\n"), 4)
	if !bytes.Contains(a[2], []byte(one)) || !bytes.Contains(b[2], []byte(two)) {
		t.Errorf("the third line is not the root: %s%s", a[2], b[2])
	}
	if !bytes.Equal(a[0], b[0]) || !bytes.Equal(a[3], b[3]) {
		t.Errorf("the same files in another place give another file:\n%s\n%s", first, second)
	}
	for range 20 {
		if again := savedPlan(t, o); !bytes.Equal(again, second) {
			t.Fatal("the same again gives another file")
		}
	}
}

func TestSavedPlanHoldsNoSecrets(t *testing.T) {
	dir := project(t)
	doc := savedPlan(t, options(dir))
	for _, secret := range []string{"of-the-environment", "/bin", "env.TOKEN }}"} {
		if bytes.Contains(doc, []byte(secret)) {
			t.Errorf("the saved plan holds %q", secret)
		}
	}
	var d struct{ Sources saved.Sources }
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	if d.Sources.Environment["EDITOR"] != "vi" || len(d.Sources.Private) != 1 || d.Sources.Private[0] != "TOKEN" {
		t.Errorf("environment %v, private %v", d.Sources.Environment, d.Sources.Private)
	}
	if d.Sources.Facts["docker_version"] != "27.1" || d.Sources.Facts["arch"] != nil {
		t.Errorf("facts %v", d.Sources.Facts)
	}
}

func TestStale(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(dir string, o *plan.Options) error
		want   string
	}{
		{"edited", func(dir string, _ *plan.Options) error {
			return os.WriteFile(filepath.Join(dir, "vars/common.yml"), []byte("port_of_site: 1\n"), 0o644)
		}, "vars/common.yml was edited"},
		{"gone", func(dir string, _ *plan.Options) error { return os.Remove(filepath.Join(dir, "conf.j2")) }, "conf.j2 is gone"},
		{"in the tree", func(dir string, _ *plan.Options) error {
			return os.WriteFile(filepath.Join(dir, "files/new"), nil, 0o644)
		}, "what is in files is not the same"},
		{"link", func(dir string, _ *plan.Options) error {
			link := filepath.Join(dir, "tasks/link.yml")
			return errors.Join(os.Remove(link), os.Symlink("web.yml", link))
		}, "tasks/link.yml does not lead to real.yml any more"},
		{"there now", func(dir string, _ *plan.Options) error {
			return os.WriteFile(filepath.Join(dir, "nothere.j2"), nil, 0o644)
		}, "nothere.j2 was not there, and now it is"},
		{
			"fact", func(_ string, o *plan.Options) error { o.Facts.Here["hostname"] = "other"; return nil },
			`the fact hostname was "box", and is "other"`,
		},
		{"costly fact", func(_ string, o *plan.Options) error {
			o.Facts.Costly = map[string]func() any{"docker_version": func() any { return "28" }}
			return nil
		}, `the fact docker_version was "27.1", and is "28"`},
		{"environment", func(_ string, o *plan.Options) error {
			o.Facts.Here["env"] = map[string]any{"EDITOR": "ed", "TOKEN": "x"}
			return nil
		}, "the environment variable EDITOR is not what it was"},
		{"private environment", func(_ string, o *plan.Options) error {
			o.Facts.Here["env"] = map[string]any{"EDITOR": "vi"}
			return nil
		}, "the environment variable TOKEN is not set"},
		{
			"home", func(_ string, o *plan.Options) error { o.Home = "/root"; return nil },
			`the home directory was "/home/ann", and is "/root"`,
		},
		{"unused fact", func(_ string, o *plan.Options) error { o.Facts.Here["arch"] = "arm64"; return nil }, ""},
		{"another secret", func(_ string, o *plan.Options) error {
			o.Facts.Here["env"] = map[string]any{"EDITOR": "vi", "TOKEN": "another"}
			return nil
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := project(t)
			doc := savedPlan(t, options(dir))
			here := machine()
			if err := tc.change(dir, &here); err != nil {
				t.Fatal(err)
			}
			got, err := planfile.Read(doc, here, version)
			var what []string
			var stale *planfile.StaleError
			switch {
			case errors.As(err, &stale):
				what = stale.What
			case err != nil:
				t.Fatal(err)
			default:
				what = got.Stale
			}
			if text := strings.Join(what, "\n"); text != tc.want {
				t.Errorf("got %q, want %q", text, tc.want)
			}
		})
	}
}

// TestStaleButKept runs the plan as it was saved although its files are other ones now.
func TestStaleButKept(t *testing.T) {
	dir := project(t)
	doc := savedPlan(t, options(dir))
	for _, name := range []string{"vars/common.yml", "tasks/web.yml", "presets/site.yml", "real.yml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("- print: other\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := planfile.Read(doc, machine(), version)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := planner.New(options(project(t))); got.Plan.Digest != want.Digest || len(got.Stale) != 4 {
		t.Errorf("digest %s, want %s; stale %q", got.Plan.Digest, want.Digest, got.Stale)
	}
}

func TestTextOfNoLogIsNotKept(t *testing.T) {
	dir := project(t)
	doc := savedPlan(t, options(dir))
	if err := os.WriteFile(filepath.Join(dir, "site.yml"), []byte("- print: other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var lost *saved.NotKeptError
	if _, err := planfile.Read(doc, machine(), version); !errors.As(err, &lost) || lost.File != "site.yml" {
		t.Errorf("got %v", err)
	}
}

// refusesWhole: what uses all of an environment is not saved, and the use is named.
func refusesWhole(t *testing.T, o plan.Options, use string, line int) {
	t.Helper()
	p, ds := planner.New(o)
	if p == nil {
		t.Fatal(ds)
	}
	g, err := graph.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	var whole *saved.WholeError
	if err := planfile.Write(new(bytes.Buffer), p, g, nil, version); !errors.As(err, &whole) || whole.Pos.File != "site.yml" ||
		whole.Pos.Line != line {
		t.Errorf("%s: %v", use, err)
	}
}

func TestWholeEnvironmentIsNotSaved(t *testing.T) {
	for _, use := range []string{"{{ env }}", "{{ facts }}", "{{ facts.env | length }}", "{{ env[x] }}", "{{ facts[x] }}"} {
		dir := write(t, map[string]string{"site.yml": "- print: |\n    {{ x }}\n    " + use + "\n"})
		o := options(dir)
		o.Values.Extra = []string{"x=os", "os=1"}
		o.Facts.Here["env"] = map[string]any{"os": "x"}
		refusesWhole(t, o, use, 1)
	}
}

// TestMutations changes one thing in a saved plan, ten thousand times: no such file may be used.
func TestMutations(t *testing.T) {
	dir := project(t)
	doc := savedPlan(t, options(dir))
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	n := 10_000
	if testing.Short() {
		n = 500
	}
	assault.Tried(t, "mutated plan files", n)
	root := bytes.Index(doc, []byte("\n  \"moon\""))
	for i := range n {
		bad := bytes.Clone(doc)
		at := r.IntN(len(bad))
		if i%50 == 0 {
			at = r.IntN(root) // its beginning, with the root, which no digest is over
		}
		switch r.IntN(4) {
		case 0:
			bad[at] ^= 1 << r.IntN(8)
		case 1:
			bad = append(bad[:at], bad[at+1:]...)
		case 2:
			bad = bad[:at]
		default:
			bad = append(bad[:at], append([]byte{byte(r.IntN(256))}, doc[at:]...)...)
		}
		if bytes.Equal(bad, doc) {
			continue
		}
		got, err := planfile.Read(bad, machine(), version)
		if err == nil && len(got.Stale) == 0 {
			t.Fatalf("seed %d, mutation %d at byte %d is not refused", seed, i, at)
		}
	}
}

// TestForgeries changes what is inside and makes the seal fit again: planning from the sources shows it.
func TestForgeries(t *testing.T) {
	dir := project(t)
	doc := string(savedPlan(t, options(dir)))
	for _, tc := range [][2]string{
		{`"cmd": "cat eu-box`, `"cmd": "rm  eu-box`},
		{`"hostname": "box"`, `"hostname": "bax"`},
		{`port_of_site: 8080`, `port_of_site: 8081`},
		{`"EDITOR": "vi"`, `"EDITOR": "vj"`},
		{`"node": "step-0002"`, `"node": "step-0003"`},
		{`"prediction": "runs"`, `"prediction": "may be skipped"`},
		{`"x=1"`, `"x=2"`},
	} {
		forged := strings.Replace(doc, tc[0], tc[1], 1)
		if forged == doc {
			t.Fatalf("the plan has no %s", tc[0])
		}
		forged = strings.Replace(forged, doc[len(doc)-70:], planfile.SealOf([]byte(forged))+"\"\n}\n", 1)
		got, err := planfile.Read([]byte(forged), machine(), version)
		if err == nil && len(got.Stale) == 0 {
			t.Errorf("%s for %s is not refused", tc[1], tc[0])
		}
	}
}

func TestWrongFiles(t *testing.T) {
	dir := write(t, map[string]string{"site.yml": "- print: hello\n"})
	doc := string(savedPlan(t, options(dir)))
	for _, tc := range []struct{ doc, want string }{
		{"", "it is not a saved plan, or was damaged; make one with moon plan -o FILE"},
		{"- print: hello\n", "it is not a saved plan, or was damaged; make one with moon plan -o FILE"},
		{"{}", "it is not a saved plan; make one with moon plan -o FILE"},
		{`{"format": 1, "root": "/x"}`, "it is a plan to be looked at, without what it was made from; save one with moon plan -o FILE"},
		{
			strings.Replace(doc, `"format": 1`, `"format": 9`, 1),
			"it has format 9, and this moon (test) reads format 1; make it again with moon plan -o FILE",
		},
		{strings.Replace(doc, "hello", "hallo", 1), "it was changed after it was saved; make it again with moon plan -o FILE"},
		{doc + "\n", "it was changed after it was saved; make it again with moon plan -o FILE"},
	} {
		if _, err := planfile.Read([]byte(tc.doc), machine(), version); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
	if _, err := planfile.Read([]byte(doc), machine(), "newer"); err != nil {
		t.Errorf("a plan of another version that plans the same: %v", err)
	}
}

// FuzzRead checks that a file is either read or refused in words, and that what is read is what was saved.
func FuzzRead(f *testing.F) {
	dir := write(f, map[string]string{"site.yml": "- print: hello {{ hostname }}\n", "t/a": ""})
	doc := savedPlan(f, options(dir))
	f.Add(doc)
	f.Add([]byte(`{"format":1,"root":"/","seal":"","sources":{"playbook":"x","files":[{"path":"x","digest":"","text":"- print: x\n"}],"trees":[{"path":"a","entries":[["/a","file","0644",1]]}]}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := planfile.Read(in, machine(), version)
		if err != nil {
			if text := err.Error(); text == "" || strings.Contains(text, "json:") ||
				strings.Contains(text, "plan.") && !strings.Contains(text, "moon plan") {
				t.Errorf("%q is no message for a person", text)
			}
			return
		}
		var b bytes.Buffer
		if err := planfile.Write(&b, got.Plan, got.Graph, got.Expected, version); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), in) {
			t.Error("what was read is not what is saved again")
		}
	})
}
