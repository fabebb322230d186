package inventory_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"moon/secret"
)

// oracle asks Ansible about several inventories. It is loaded once, and each is asked about in a process of its own, because it keeps
// what it has read.
const oracle = `
import json, os, sys, io, contextlib
from ansible.cli.inventory import InventoryCLI
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

for line in sys.stdin:
    asked = json.loads(line)
    sys.stdout.flush()
    child = os.fork()
    if child:
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("%s: failed" % asked["dir"])
        continue
    os.chdir(asked["dir"])
    args = ["ansible-inventory", "--list", "--playbook-dir", asked["dir"]]
    for source in asked["sources"]:
        args += ["-i", source]
    out = io.StringIO()
    from ansible.utils.display import Display
    Display.display = lambda self, msg, *a, **k: out.write(msg) if not k.get("stderr") else None
    try:
        InventoryCLI(args).run()
    except SystemExit:
        pass
    manager = InventoryManager(loader=DataLoader(), sources=asked["sources"])
    matched = {}
    for p in asked["patterns"]:
        try:
            matched[p] = [h.name for h in manager.get_hosts(p)]
        except Exception as e:
            matched[p] = ["!"]
    print(json.dumps({"list": json.loads(out.getvalue()), "matched": matched}))
    sys.stdout.flush()
    os._exit(0)
`

type asked struct {
	Dir      string   `json:"dir"`
	Sources  []string `json:"sources"`
	Patterns []string `json:"patterns"`
}

type answer struct {
	List    map[string]any      `json:"list"`
	Matched map[string][]string `json:"matched"`
}

// TestAnsible asks ansible-inventory the same about the fixtures.
func TestAnsible(t *testing.T) {
	program, err := exec.LookPath("ansible-inventory")
	if err != nil {
		t.Skip("there is no ansible-inventory")
	}
	script, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	python, _, _ := strings.Cut(strings.TrimPrefix(string(script), "#!"), "\n")
	words := strings.Fields(python)
	if len(words) == 0 {
		t.Skip("ansible-inventory is no script")
	}
	all := fixtures(t, "testdata/*.txtar")
	maps.DeleteFunc(all, func(_ string, fx *fixture) bool { return strings.Contains(string(fx.ar.Comment), "# ansible: no") })
	names := slices.Sorted(maps.Keys(all))
	if len(names) < 12 {
		t.Fatalf("there are only %d inventories to compare", len(names))
	}
	var questions bytes.Buffer
	enc := json.NewEncoder(&questions)
	for _, name := range names {
		fx := all[name]
		a := asked{Dir: fx.dir, Sources: fx.sources, Patterns: fx.patterns()}
		for i, s := range a.Sources {
			if !strings.Contains(s, ",") {
				a.Sources[i] = filepath.Join(fx.dir, s)
			}
		}
		if err := enc.Encode(a); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(words[0], append(words[1:], "-c", oracle)...)
	cmd.Stdin = &questions
	config := filepath.Join(t.TempDir(), "ansible.cfg") // none of the machine's
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "ANSIBLE_CONFIG="+config, "ANSIBLE_LOCAL_TEMP="+t.TempDir(), "LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s\n%s", err, stderr.String())
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	for _, name := range names {
		var theirs answer
		if err := dec.Decode(&theirs); err != nil {
			t.Fatalf("%s: %s\n%s\n%s", name, err, out, stderr.String())
		}
		t.Run(name, func(t *testing.T) { agree(t, all[name], theirs) })
	}
}

func (fx *fixture) patterns() []string {
	for _, f := range fx.ar.Files {
		if f.Name == "patterns" {
			return strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n")
		}
	}
	return []string{"all"}
}

func agree(t *testing.T, fx *fixture, theirs answer) {
	t.Helper()
	hosts, err := fx.inv.Match("all")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(fx.inv.List(hosts))
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]any{}
	if err := json.Unmarshal(doc, &ours); err != nil {
		t.Fatal(err)
	}
	differ(t, "", ours, theirs.List)
	for _, p := range fx.patterns() {
		got := []string{}
		hosts, err := fx.inv.Match(p)
		for _, h := range hosts {
			got = append(got, h.Name)
		}
		want := theirs.Matched[p]
		if slices.Equal(want, []string{"!"}) {
			if err == nil {
				t.Errorf("pattern %q is a mistake, and gave %q", p, got)
			}
			continue
		}
		if strings.Contains(string(fx.ar.Comment), "# order: any") {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("pattern %q: %q, and Ansible has %q", p, got, want)
		}
	}
}

// differ says where two documents do.
func differ(t *testing.T, at string, ours, theirs any) {
	t.Helper()
	a, ok := ours.(map[string]any)
	b, ok2 := theirs.(map[string]any)
	if !ok || !ok2 {
		if _, text := theirs.(string); ours == secret.Mask && text {
			return // Ansible hides nothing here
		}
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%s: %#v, and Ansible has %#v", at, ours, theirs)
		}
		return
	}
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		differ(t, at+"/"+k, a[k], b[k])
	}
}
