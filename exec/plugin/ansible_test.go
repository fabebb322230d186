package plugin_test

import (
	"context"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/plugin"
	"moon/exec/spec"
)

// module puts a module into library/.
func module(t *testing.T, name, text string, executable bool) (*rig, error) {
	t.Helper()
	dir := t.TempDir()
	mode := 0o644
	if executable {
		mode = 0o755
	}
	write(t, filepath.Join(dir, "library", name), text, os.FileMode(mode))
	r := &rig{host: &plugin.Host{}, said: make(chan string, 1000)}
	t.Cleanup(r.host.Close)
	var err error
	r.registry = plugin.Find(plugin.Search{Beside: dir, TrustAll: true, Core: ansibleCore()})
	name, _, _ = strings.Cut(name, ".")
	r.action, err = r.registry.Action(name)
	return r, err
}

func TestModulesThatWantJSON(t *testing.T) {
	r, err := module(t, "thing", `#!/bin/sh
# WANT_JSON
stat -c %a "$1" >&2; echo "$1" >&2
echo "something else"
echo '{"changed": true, "msg": "done", "rc": 0, "invocation": {}, "args": '; cat "$1"; echo '}'
`, true)
	if err != nil {
		t.Fatal(err)
	}
	got := r.run(t, map[string]any{"name": "x", "list": []any{1, "a"}})
	args, _ := got.Fields["args"].(map[string]any)
	if got.Outcome != events.Changed || args["name"] != "x" || args["_ansible_check_mode"] != false || got.Fields["invocation"] != nil {
		t.Errorf("%s %q %v", got.Outcome, got.Error, got.Fields)
	}
	mode, file, _ := strings.Cut(strings.TrimSpace(r.err.String()), "\n")
	if mode != "600" {
		t.Errorf("the file of arguments has mode %s", mode)
	}
	if _, err := exec.FileDigest(file); err == nil {
		t.Errorf("%s is still there", file)
	}
	if dry := (exec.DryRun{Plugin: r.host.Run}).Run(context.Background(), r.job(t, nil)); dry.Diff == nil || dry.Diff.Kind != events.ChangeUnknown {
		t.Errorf("the dry run of a module that knows of none: %+v", dry)
	}
}

func TestAnswersOfModules(t *testing.T) {
	for _, c := range []struct {
		name, body string
		outcome    events.Outcome
		err        string
	}{
		{"failed", `echo '{"failed": true, "msg": "no"}'; exit 1`, events.Failed, "no"},
		{"failed by its rc", `echo '{"rc": 2, "msg": "no"}'`, events.Failed, "no"},
		{"an rc that is no failure", `echo '{"rc": 2, "failed": false}'`, events.OK, ""},
		{"failed by its status alone", `echo '{"changed": true}'; exit 3`, events.Failed, "exit status 3"},
		{"skipped", `echo '{"skipped": true, "msg": "not here"}'`, events.Skipped, ""},
		{"nothing", `true`, events.Failed, "answered nothing"},
		{"no JSON", `echo hello`, events.Failed, `answered "hello"`},
		{"no JSON, and a status", `echo hello; exit 3`, events.Failed, `exit status 3, and it answered "hello`},
		{"over lines", `printf '{\n "changed":\n true\n}\n'`, events.Changed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := module(t, "thing", "#!/bin/sh\n# WANT_JSON\n"+c.body+"\n", true)
			if err != nil {
				t.Fatal(err)
			}
			got := r.run(t, nil)
			if got.Outcome != c.outcome || !strings.Contains(got.Error, c.err) || (c.err == "") != (got.Error == "") {
				t.Errorf("%s %q", got.Outcome, got.Error)
			}
		})
	}
}

func TestModulesThatCannotRun(t *testing.T) {
	for _, c := range []struct {
		name, text string
		executable bool
		err        string
	}{
		{"no first line", "WANT_JSON\n", false, "names nothing that runs it"},
		{"arguments in its text", "#!/bin/sh\nargs='<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>'\n", true, "of a kind that moon cannot run"},
		{"for Windows", "#!powershell\n#Requires -Module Ansible.ModuleUtils.Legacy\n", true, "of a kind that moon cannot run"},
		{"nothing at all", "echo\n", false, "has neither WANT_JSON"},
		{"a program that is not executable", "\x7fELF\x00\x00", false, "not executable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := module(t, "thing", c.text, c.executable); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("it said %v", err)
			}
		})
	}
	t.Run("a plugin as moon has them", func(t *testing.T) {
		r, err := module(t, "fake.sh", strings.ReplaceAll(once(`echo '{"status": "ok"}'`), "fake.do", "fake"), true)
		if err != nil || r.action.Plugin.Speaks != spec.SpeaksOnce {
			t.Errorf("%+v, %v", r.action, err)
		}
	})
}

func needAnsible(t *testing.T) {
	t.Helper()
	if ansibleCore() == "" {
		t.Skip("there is no Ansible on this machine")
	}
}

// ansibleCore is the directory of the Python package ansible; "" if there is none here.
var ansibleCore = sync.OnceValue(func() string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if out, err := osexec.Command(python, "-c", "import ansible; print(ansible.__path__[0])").Output(); err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	return ""
})

func TestModulesInPython(t *testing.T) {
	needAnsible(t)
	r, err := module(t, "thing.py", `#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
m = AnsibleModule(argument_spec=dict(name=dict(required=True), n=dict(type="int", default=1)), supports_check_mode=True)
if m.params["n"] > 5:
    m.fail_json(msg="n is too large")
m.warn("careful")
m.exit_json(changed=True, check=m.check_mode, n=m.params["n"], ansible_facts={"thing": 1}, diff={"before": "a\n", "after": "b\n"})
`, false)
	if err != nil {
		t.Fatal(err)
	}
	got := r.run(t, map[string]any{"name": "x", "n": "3"})
	if got.Outcome != events.Changed || got.Fields["n"] != 3 || got.Fields["check"] != false || got.Values["thing"] != 1 || len(got.Warnings) != 1 {
		t.Errorf("%s %q %v %v", got.Outcome, got.Error, got.Fields, got.Warnings)
	}
	if got.Diff == nil || !strings.Contains(got.Diff.Text, "-a\n+b\n") {
		t.Errorf("%+v", got.Diff)
	}
	dry := exec.DryRun{Plugin: r.host.Run}.Run(context.Background(), r.job(t, map[string]any{"name": "x"}))
	if dry.Outcome != events.Changed || dry.Fields["check"] != true {
		t.Errorf("%s %q %v", dry.Outcome, dry.Error, dry.Fields)
	}
	for want, args := range map[string]map[string]any{"n is too large": {"name": "x", "n": 7}, "missing required arguments: name": {}} {
		if got := r.run(t, args); got.Outcome != events.Failed || !strings.Contains(got.Error, want) {
			t.Errorf("%s %q", got.Outcome, got.Error)
		}
	}
}

func TestModulesOfAnsible(t *testing.T) {
	needAnsible(t)
	registry := plugin.Find(plugin.Search{Core: ansibleCore()})
	r := &rig{host: &plugin.Host{}, registry: registry, said: make(chan string, 1000)}
	t.Cleanup(r.host.Close)
	var err error
	if r.action, err = registry.Action("ping"); err != nil {
		t.Fatal(err)
	}
	if got := r.run(t, map[string]any{"data": "hello"}); got.Outcome != events.OK || got.Fields["ping"] != "hello" {
		t.Errorf("%s %q %v", got.Outcome, got.Error, got.Fields)
	}
	if got := r.run(t, map[string]any{"data": "crash"}); got.Outcome != events.Failed || !strings.Contains(got.Error, "Exception: boom") {
		t.Errorf("%s %q %v", got.Outcome, got.Error, got.Fields)
	}
	if name, ok := registry.Has("ansible.builtin.ping"); !ok || name != "ping" {
		t.Errorf("ansible.builtin.ping is %q, %t", name, ok)
	}
	for name, want := range map[string]string{"no_such_module": "there is no action"} {
		if _, err := registry.Action(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: it said %v", name, err)
		}
	}
	for _, name := range []string{"no_such_module", "../x", "-m", "", "a.b"} {
		if _, ok := registry.Has(name); ok {
			t.Errorf("%q may be used", name)
		}
	}
}

func TestModulesThatMoonLacksUtilsOf(t *testing.T) {
	needAnsible(t)
	_, err := module(t, "thing.py", "from ansible.module_utils.nowhere import x\nfrom ansible.module_utils.basic import AnsibleModule\n", false)
	if err == nil || !strings.Contains(err.Error(), "imports `ansible.module_utils.nowhere`, which is not there") {
		t.Errorf("it said %v", err)
	}
	r, err := module(t, "other.py", `#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
try:
    from ansible.module_utils.nowhere import x
except ImportError:
    x = "none"
AnsibleModule({}).exit_json(x=x)
`, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.run(t, nil); got.Fields["x"] != "none" {
		t.Errorf("%s %q %v", got.Outcome, got.Error, got.Fields)
	}
}

func TestPackThatWasEdited(t *testing.T) {
	needAnsible(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	text := "from ansible.module_utils.basic import AnsibleModule\nAnsibleModule({}).exit_json(edited=%s)\n"
	r, err := module(t, "thing.py", strings.ReplaceAll(text, "%s", "False"), false)
	if err != nil {
		t.Fatal(err)
	}
	path := r.action.Plugin.Path
	write(t, path, strings.ReplaceAll(text, "%s", "True"), 0o644)
	if got := r.run(t, nil); !strings.Contains(got.Error, "is not what it was when the plan was made") {
		t.Errorf("%s %q %v", got.Outcome, got.Error, got.Fields)
	}
	write(t, path, strings.ReplaceAll(text, "%s", "False"), 0o644)
	if got := r.run(t, nil); got.Outcome != events.OK {
		t.Errorf("%s %q", got.Outcome, got.Error)
	}
	kept, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "moon", "modules", "*.zip"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v %v", kept, err)
	}
	// What lies in its place and is something else is replaced, also by another process.
	write(t, kept[0], "not a pack", 0o600)
	r.host = &plugin.Host{}
	t.Cleanup(r.host.Close)
	if got := r.run(t, nil); got.Outcome != events.OK {
		t.Errorf("%s %q", got.Outcome, got.Error)
	}
}
