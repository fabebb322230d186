package editing

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"moon/internal/app"
	"moon/internal/diag"
	"moon/plan/planner"
	"moon/plan/source"
)

// TestMain lets the tests be `moon lsp` for an editor that they start.
func TestMain(m *testing.M) {
	if os.Getenv("MOON_TEST_LSP") != "" {
		call := app.NewInvocation(os.Stdin, os.Stdout, os.Stderr, "test", "test", "")
		os.Exit(app.Report(os.Stderr, new(Server).Run(call)))
	}
	os.Exit(m.Run())
}

func testCall() *app.Invocation {
	return app.NewInvocation(strings.NewReader(""), io.Discard, io.Discard, "test", "test", "")
}

// TestNeovim has a real editor show what is wrong, say what something is, and rename it.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("Neovim is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	playbook, answers := filepath.Join(dir, "moon.yml"), filepath.Join(dir, "answers.json")
	if err := os.WriteFile(playbook, []byte("vars:\n  who: you\nsteps:\n  - shell: echo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/neovim.lua")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--headless", "-u", "NONE", "-n", "-i", "NONE", "-c", "luafile "+script)
	cmd.Env = append(os.Environ(), "PLAYBOOK="+playbook, "ANSWERS="+answers, "SERVER="+server, "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(answers)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var got struct {
		Failed     string
		Diagnostic []any
		Hover      string
		Definition any
		Symbols    []string
		Renamed    []string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got.Failed != "" {
		t.Errorf("it has waited in vain for %s", got.Failed)
	}
	for what, pair := range map[string][2]any{
		"diagnostic": {got.Diagnostic, []any{3., 4., 8., "unknown action or key `shel`\nhint: did you mean `shell`?"}},
		"hover":      {got.Hover, "variable `who`\n\nIn the plan:\n\n`you` — vars, moon.yml:2"},
		"definition": {got.Definition, map[string]any{"start": map[string]any{"line": 1., "character": 2.}, "end": map[string]any{"line": 1., "character": 5.}}},
		"symbols":    {got.Symbols, []string{"echo 𝄞 you"}},
		"renamed":    {got.Renamed, []string{"vars:", "  whom: you", "steps:", "  - shell: echo 𝄞 {{ whom }}"}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s:\n got %#v\nwant %#v\n%s", what, pair[0], pair[1], said)
		}
	}
}

// TestPage has the Lua of the docs be Lua.
func TestPage(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("Neovim is not installed")
	}
	page, err := os.ReadFile("../../../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "\n```lua\n")
	if len(blocks) < 3 {
		t.Fatalf("%d blocks of Lua", len(blocks)-1)
	}
	for _, block := range blocks[1:] {
		code, _, _ := strings.Cut(block, "\n```\n")
		path := filepath.Join(t.TempDir(), "code.lua")
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(nvim, "--headless", "-u", "NONE", "-n", "-i", "NONE", "-c", "lua local f, e = loadfile('"+path+"'); if e then print(e); vim.cmd('cq!') end", "-c", "qa!").CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s\n%s", err, out, code)
		}
	}
}

// TestNothingRuns plans playbooks that name programs in every way that there is. Each would leave a mark.
func TestNothingRuns(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "mark")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	program := "#!/bin/sh\ntouch " + mark + "\n"
	write("plugins/mine", program, 0o700)
	write("bin/moon-plugin-other", program, 0o700)
	write("bin/go", program, 0o700)
	write("inventory.sh", program+"echo '{}'\n", 0o700)
	write("pass.sh", program, 0o700)
	write("filter_plugins/f.py", "import os\nopen('"+mark+"', 'w')\nclass FilterModule:\n    def filters(self): return {'mine': lambda x: x}\n", 0o600)
	write("ansible.cfg", "[defaults]\ninventory = inventory.sh\nvault_password_file = pass.sh\n", 0o600)
	t.Setenv("PATH", filepath.Join(dir, "bin")+":/usr/bin:/bin")
	t.Setenv("HOME", dir)
	t.Chdir(dir)
	for name, text := range map[string]string{
		"pipe":    "- print: \"{{ lookup('pipe', 'touch " + mark + "') }}\"\n",
		"plugin":  "- mine.do: {a: 1}\n- other: {b: 2}\n",
		"facts":   "- print: '{{ go_version }}'\n",
		"probe":   "- hosts: localhost\n  tasks:\n    - command: touch " + mark + "\n      check_mode: false\n      changed_when: false\n      register: r\n    - debug: {msg: '{{ r.stdout }}'}\n      when: r.stdout != ''\n",
		"gather":  "- hosts: all\n  tasks: [{debug: {msg: '{{ ansible_os_family }}'}}]\n",
		"filter":  "- hosts: localhost\n  gather_facts: false\n  tasks: [{debug: {msg: \"{{ 'x' | mine }}\"}}]\n",
		"unless":  "- {shell: x, unless: 'touch " + mark + "'}\n",
		"vault":   "- hosts: localhost\n  vars:\n    a: !vault |\n      $ANSIBLE_VAULT;1.1;AES256\n      62313365396662343061393464336163383764373764613633653634306231386433626436623361\n  tasks: [{debug: {msg: '{{ a }}'}}]\n",
		"prompts": "- hosts: localhost\n  vars_prompt: [{name: x}]\n  tasks: [{debug: {msg: '{{ x }}'}}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			write(name+".yml", text, 0o600)
			for _, c := range []Server{{}, {Inventory: []string{"inventory.sh"}, Vault: []string{"x@pass.sh"}}} {
				p, err := c.newPlanning(testCall())
				if err != nil {
					t.Fatal(err)
				}
				o, err := p.options(filepath.Join(dir, name+".yml"))
				if err != nil {
					t.Fatal(err)
				}
				_, ds := planner.Check(o, source.NewDisk(strings.NewReader("")), new(diag.List))
				if _, err := os.Stat(mark); err == nil {
					t.Fatalf("a program was run: %v", ds)
				}
				// What a plugin takes is not known, and so it takes anything.
				if (name == "plugin" || name == "prompts") && len(ds) > 0 {
					t.Errorf("%+v", ds)
				}
			}
		})
	}
}

// TestOptions has the settings next to a playbook count, wherever the server was started.
func TestOptions(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"project/ansible.cfg": "[defaults]\ninventory = hosts.ini\nremote_user = ada\n", "project/hosts.ini": "web1\n", "project/plays/site.yml": "[]\n",
		"vars.yml": "a: 1\n", "own.ini": "own\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	for _, c := range []struct {
		server Server
		want   string
	}{
		{Server{}, fmt.Sprintf("%[1]s/project ada [%[1]s/project/hosts.ini] [] []", dir)},
		{
			Server{Inventory: []string{"own.ini"}, ExtraVars: []string{"@vars.yml", "b=1"}, VarsFile: []string{"vars.yml"}},
			fmt.Sprintf("%[1]s/project ada [%[1]s/own.ini] [@%[1]s/vars.yml b=1] [%[1]s/vars.yml]", dir),
		},
	} {
		p, err := c.server.newPlanning(testCall())
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.options(filepath.Join(dir, "project/plays/site.yml"))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(o.Dir, " ", o.Login.User, " ", o.Hosts.Inventory, " ", o.Values.Extra, " ", o.Values.Files); got != c.want {
			t.Errorf("\n%s\nwant\n%s", got, c.want)
		}
		if !o.Hosts.NoConnect || o.Outside.Gather != nil || o.Outside.Pipe != nil || o.Outside.RunInventory != nil || o.Trusts != nil {
			t.Errorf("it may ask: %+v", o.Outside)
		}
	}
}

// TestExtension holds the extension for VS Code to what the server says.
func TestExtension(t *testing.T) {
	dir := "../../../editors/vscode"
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Name, Main, License, Version string
		Engines                      map[string]string
		Dependencies                 map[string]string
		Contributes                  struct {
			Commands      []struct{ Command, Title string }
			Configuration struct {
				Properties map[string]struct{ Type, Description string }
			}
		}
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(filepath.Join(dir, p.Main))
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "moon" || p.Engines["vscode"] == "" || p.Version == "" || p.License == "" || p.Dependencies["vscode-languageclient"] == "" {
		t.Errorf("%+v", p)
	}
	if len(p.Contributes.Commands) == 0 {
		t.Error("there are no commands")
	}
	for _, c := range p.Contributes.Commands {
		if !strings.Contains(string(code), "registerCommand('"+c.Command+"'") {
			t.Errorf("%s has no code", c.Command)
		}
	}
	if !strings.Contains(string(code), "registerCommand('moon.run'") {
		t.Error("the command of lenses has no code")
	}
	for name := range p.Contributes.Configuration.Properties {
		if short := strings.TrimPrefix(name, "moon."); !strings.Contains(string(code), "get('"+short+"'") {
			t.Errorf("the setting %s is not read", name)
		}
	}
	if node, err := exec.LookPath("node"); err == nil {
		if out, err := exec.Command(node, "--check", filepath.Join(dir, p.Main)).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
