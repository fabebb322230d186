package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// TestExamplePlugins runs the playbook of examples/plugins twice: the second time there is nothing left to do. Its dry run
// changes nothing.
func TestExamplePlugins(t *testing.T) {
	for _, program := range []string{"python3", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s on this machine", program)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("examples/plugins")); err != nil {
		t.Fatal(err)
	}
	moon := fakes.MoonIn(t, dir)
	if out, ok := moon("run", "playbook.yml"); ok || !strings.Contains(out, "is not trusted yet") {
		t.Fatalf("plugins that nobody trusts ran\n%s", out)
	}
	if out, ok := moon("plugin", "trust", "plugins/motd", "plugins/ledger.py", "plugins/gentle"); !ok {
		t.Fatal(out)
	}
	for _, round := range []struct {
		args []string
		want []string
	}{
		{[]string{"plan", "--check", "playbook.yml"}, []string{"would create: another line", "would create: the account of ada"}},
		{[]string{"run", "playbook.yml"}, []string{"changed (another line)", "changed (the account of bob)", "% looking", "all is well", "4 changed"}},
		{[]string{"run", "playbook.yml"}, []string{"5 done, of 5 steps"}},
		{[]string{"plugin", "test", "inventory.ledger", "--args", `{"source": "` + dir + `/work/ledger.json"}`}, []string{`"balance": 10`, `"ada"`}},
		{[]string{"inventory", "-i", "ledger:work/ledger.json", "--graph", "--vars"}, []string{"--ada", "{balance = 10}", "@rich:"}},
		{[]string{"run", "site.yml", "-i", "hosts", "--trust"}, []string{"slow  at 10", "fast  at 0"}},
		{[]string{"plan", "words.yml", "--trust"}, []string{"HELLO"}},
		{[]string{"run", "words.yml", "--trust"}, []string{"HELLO", "new moon and full moon"}},
		{[]string{"validate", "site.toml", "--trust"}, []string{"site.toml: 3 steps, no mistakes found"}},
		{[]string{"run", "site.toml", "--trust"}, []string{"hello Ada", "port 443", "3 done"}},
		{[]string{"plugin", "test", "facts.ledger", "--args", `{"host": "web1"}`}, []string{`"ledger_host": "web1"`}},
	} {
		out, ok := moon(round.args...)
		for _, want := range round.want {
			if !ok || !strings.Contains(out, want) {
				t.Fatalf("moon %s does not say %q\n%s", strings.Join(round.args, " "), want, out)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "work", "motd")); err != nil || string(text) != "hello from moon\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFirstPlugin does what docs/plugins.md says can be done in ten minutes.
func TestFirstPlugin(t *testing.T) {
	doc, err := os.ReadFile("docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(doc)
		if found == nil {
			t.Fatalf("there is no %s in the document", language)
		}
		return string(found[1])
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"plugins/greet": block("sh"), "playbook.yml": block("yaml")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	moon := fakes.MoonIn(t, dir)
	for _, args := range [][]string{
		{"plugin", "trust", "plugins/greet"}, {"plugin", "describe", "greet"}, {"plugin", "test", "greet", "--args", `{"who": "Ada"}`, "--verbose"}, {"run", "playbook.yml"},
	} {
		if out, ok := moon(args...); !ok || args[0] == "run" && !strings.Contains(out, "\n  Ada\n") {
			t.Fatalf("moon %s\n%s", strings.Join(args, " "), out)
		}
	}
	if out, ok := moon("validate", "playbook.yml"); !ok {
		t.Fatal(out)
	}
}

// TestPluginOfAnotherUser: a plugin that its user cannot even read runs as that user, one-shot and long-lived.
func TestPluginOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be anybody")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 on this machine")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"plugins/who": `#!/bin/sh
[ "$1" = describe ] && echo '{"protocol": 1, "capabilities": [{"kind": "execute", "name": "who"}]}' && exit
printf '{"status": "ok", "data": {"user": "%s"}}\n' "$(id -un)"
`,
		"plugins/long": `#!/usr/bin/python3
import getpass, json, os, sys
for line in sys.stdin:
    m = json.loads(line)
    r = {"protocol": 1, "capabilities": [{"kind": "execute", "name": "long"}]} if m["method"] == "initialize" else {"status": "ok", "data": {"user": getpass.getuser(), "pid": os.getpid()}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`,
		"playbook.yml": `
- {who: {}, register: w, become: true, become_user: nobody}
- {long: {}, register: a, become: true, become_user: nobody}
- {long: {}, register: b, become: true, become_user: nobody}
- assert: {that: [w.user == "nobody", a.user == "nobody", a.pid == b.pid]}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, ok := fakes.MoonIn(t, dir)("run", "--trust-plugins", "playbook.yml"); !ok {
		t.Fatal(out)
	}
}
