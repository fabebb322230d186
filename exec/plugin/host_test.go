package plugin_test

import (
	"context"
	"encoding/json"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/plugin"
	"moon/exec/spec"
	"moon/secret"
)

// once is a one-shot plugin in sh, which answers with what its body prints.
func once(body string) string {
	return `#!/bin/sh
if [ "$1" = describe ]; then
	echo '{"name": "fake", "version": "7", "protocol": 1, "from": "a later version", "capabilities": [
	 {"kind": "execute", "name": "fake.do", "check": "full", "diff": true, "new": {}}]}' | tr -d '\n'
	exit
fi
` + body
}

// lines is a long-lived plugin in Python: body is what do(call, params) does, indented by four.
func lines(body string) string {
	return `#!/usr/bin/env python3
import json, os, sys, threading, time

lock = threading.Lock()
def say(m):
    with lock: print(json.dumps(dict(m, jsonrpc="2.0")), flush=True)
def news(call, **m): say({"method": "progress", "params": dict(m, id=call)})
def heard():
    line = sys.stdin.readline()
    if not line: sys.exit()
    return json.loads(line)

def do(call, params):
` + body + `

while True:
    m = heard()
    if m["method"] == "initialize":
        say({"id": m["id"], "result": {"name": "fake", "version": "7", "protocol": 1, "concurrent": "CONCURRENT" in os.environ, "capabilities": [
            {"kind": "execute", "name": "fake.do", "check": "full", "diff": True},
            {"kind": "facts", "name": "fake"}]}})
    elif m["method"] == "execute":
        r = do(m["id"], m["params"])
        if r is not None: say({"id": m["id"], "result": r})
    elif m["method"] == "facts":
        say({"id": m["id"], "result": {"facts": {"n": 1, "host": m["params"]["host"]}}})
`
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := osexec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 on this machine")
	}
}

// rig is a plugin and what it needs to run.
type rig struct {
	host     *plugin.Host
	registry *plugin.Registry
	action   *spec.Action

	mu       sync.Mutex
	out, err strings.Builder
	said     chan string // pieces of its output, as they come
}

// install puts a plugin called fake beside a playbook, and trusts it.
func install(t *testing.T, text string) *rig {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plugins", "fake"), text, 0o755)
	r := &rig{host: &plugin.Host{Moon: "test", Cwd: dir, Patience: 50 * time.Millisecond}, said: make(chan string, 1000)}
	t.Cleanup(r.host.Close)
	r.registry = plugin.Find(plugin.Search{Beside: dir, TrustAll: true})
	var err error
	if r.action, err = r.registry.Action("fake.do"); err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// As long as it is open for writing no process may be started, which would have it open too.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// job is a call with some arguments.
func (r *rig) job(t *testing.T, args map[string]any) *exec.Job {
	t.Helper()
	typed, problems := r.action.Decode(args)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return &exec.Job{
		Action: r.action.Name, Args: typed, Raw: args, Cwd: t.TempDir(), Diff: true,
		Output: steplog.NewRelay(func(stderr bool, p []byte) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if stderr {
				r.err.Write(p)
			} else {
				r.out.Write(p)
			}
			r.said <- string(p)
			return nil
		}),
	}
}

func (r *rig) local() exec.Local {
	return exec.Local{Grace: 200 * time.Millisecond, Plugin: r.host.Run}
}

func (r *rig) run(t *testing.T, args map[string]any) exec.Result {
	t.Helper()
	return r.local().Run(context.Background(), r.job(t, args))
}

func TestAnswersOfOneShotPlugins(t *testing.T) {
	for _, c := range []struct {
		name, body string
		outcome    events.Outcome
		err        string // part of the error
		out        string
	}{
		{"ok", `echo '{"status": "ok", "data": {"n": 3}}'`, events.OK, "", ""},
		{"changed", `echo '{"status": "changed"}'`, events.Changed, "", ""},
		{"changed by the older word", `echo '{"changed": true}'`, events.Changed, "", ""},
		{"failed", `echo '{"status": "failed", "msg": "no such thing"}'`, events.Failed, "no such thing", ""},
		{"failed without a word", `echo '{"status": "failed"}'`, events.Failed, "not why", ""},
		{"skipped", `echo '{"status": "skipped", "msg": "nothing to do"}'`, events.Skipped, "", ""},
		{"unknown is no answer to a run", `echo '{"status": "unknown"}'`, events.Failed, "does not know how it went", ""},
		{"a status of a later version", `echo '{"status": "deferred"}'`, events.Failed, `the status "deferred"`, ""},
		{"unknown fields", `echo '{"status": "ok", "mood": "good", "data": {}}'`, events.OK, "", ""},
		{"what stands before is output", `echo one; echo; echo two; echo '{"status": "ok"}'; echo`, events.OK, "", "one\ntwo\n"},
		{"garbage", `echo hello there`, events.Failed, `answered "hello there", which is not a JSON object`, ""},
		{"half an answer", `printf '{"status": "o'`, events.Failed, "cannot be read", ""},
		{"of the wrong type", `echo '{"status": "ok", "warnings": "none"}'`, events.Failed, "`warnings` is a string", ""},
		{"a list", `echo '[1]'`, events.Failed, "not a JSON object", ""},
		{"nothing", `true`, events.Failed, "answered nothing", ""},
		{"an exit status", `echo oops >&2; exit 3`, events.Failed, "exit status 3", ""},
		{"an exit status with its reason", `echo '{"msg": "the disk is full"}'; exit 3`, events.Failed, "the disk is full", ""},
		{"an exit status and output", `echo some words; exit 3`, events.Failed, "exit status 3", "some words\n"},
		{"killed", `kill -KILL $$`, events.Failed, "killed by SIGKILL", ""},
		{"a huge line", `head -c 17000000 /dev/zero | tr '\0' x`, events.Failed, "more than 16 MB", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := install(t, once(c.body))
			got := r.run(t, nil)
			if got.Outcome != c.outcome || !strings.Contains(got.Error, c.err) || (c.err == "") != (got.Error == "") {
				t.Errorf("it ended as %s: %q", got.Outcome, got.Error)
			}
			if r.out.String() != c.out {
				t.Errorf("it printed %q, not %q", r.out.String(), c.out)
			}
		})
	}
}

// TestWhatAPluginGives goes through what an answer can hold.
func TestWhatAPluginGives(t *testing.T) {
	r := install(t, once(`echo working >&2
echo '{"status": "changed", "msg": "two words", "data": {"n": 3, "f": 1.5, "rc": 4}, "facts": {"colour": "red"},
 "warnings": ["careful"], "diff": [{"path": "/x", "before": null, "after": "a\n"}]}' | tr -d '\n'`))
	got := r.run(t, nil)
	if got.Fields["n"] != 3 || got.Fields["f"] != 1.5 || *got.RC != 4 || got.Fields["msg"] != "two words" {
		t.Errorf("data: %v", got.Fields)
	}
	if got.Values["colour"] != "red" || len(got.Warnings) != 1 || got.Warnings[0] != "careful" {
		t.Errorf("facts %v, warnings %v", got.Values, got.Warnings)
	}
	if got.Diff == nil || got.Diff.Kind != events.ChangeCreate || got.Diff.Path != "/x" || !strings.Contains(got.Diff.Text, "+a") {
		t.Errorf("diff: %+v", got.Diff)
	}
	if r.err.String() != "working\n" {
		t.Errorf("stderr: %q", r.err.String())
	}
}

func TestDryRunsOfPlugins(t *testing.T) {
	for _, c := range []struct {
		name, text string
		outcome    events.Outcome
		kind       events.ChangeKind
	}{
		{"ok", `{"status": "ok"}`, events.OK, ""},
		{"changed", `{"status": "changed", "msg": "it would"}`, events.Changed, events.ChangeUpdate},
		{"unknown", `{"status": "unknown", "msg": "who knows"}`, events.OK, events.ChangeUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := install(t, once(`grep -q '"check":true' || exit 9; echo '`+c.text+`'`))
			got := exec.DryRun{Plugin: r.host.Run}.Run(context.Background(), r.job(t, nil))
			kind := events.ChangeKind("")
			if got.Diff != nil {
				kind = got.Diff.Kind
			}
			if got.Outcome != c.outcome || kind != c.kind {
				t.Errorf("%s %s %q", got.Outcome, kind, got.Error)
			}
		})
	}
	t.Run("never run if it cannot tell", func(t *testing.T) {
		mark := filepath.Join(t.TempDir(), "ran")
		r := install(t, strings.Replace(once(`touch `+mark), `"check": "full"`, `"check": "none"`, 1))
		got := exec.DryRun{Plugin: r.host.Run}.Run(context.Background(), r.job(t, nil))
		if _, err := os.Stat(mark); err == nil || got.Diff == nil || got.Diff.Kind != events.ChangeUnknown {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestRequest compares all that a plugin is told.
func TestRequest(t *testing.T) {
	r := install(t, once(`printf '{"status": "ok", "data": {"request": '; cat | tr -d '\n'; echo '}}'`))
	t.Setenv("MOON_TEST_TOKEN", "geheim-im-umfeld")
	job := r.job(t, map[string]any{"a": 1, "list": []any{"x", "hunter2!"}})
	job.Cwd, job.Timeout, job.Env = "/", time.Minute, map[string]string{"WHERE": "here"}
	job.Secrets = secret.NewSet()
	job.Secrets.Add("", "hunter2")
	job.Secrets.Add("", "another-secret")
	job.Details = &exec.StepDetails{Name: "a step", Host: "web1", File: "site.yml", Line: 12, Column: 5, Vars: map[string]any{"used": true}}
	got := r.local().Run(context.Background(), job)
	request, _ := got.Fields["request"].(map[string]any)
	if request == nil {
		t.Fatal(got)
	}
	if deadline, _ := request["deadline_ms"].(int); deadline <= 0 || deadline > 60000 {
		t.Errorf("deadline_ms is %v", request["deadline_ms"])
	}
	delete(request, "deadline_ms")
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"check":false,"diff":true,"host":{"name":"web1","vars_used":{"used":true}},"protocol":1,"secrets":["hunter2!"],` +
		`"task":{"args":{"a":1,"list":["x","hunter2!"]},"cwd":"/","env":{"WHERE":"here"},"name":"fake.do","origin":{"col":5,"file":"site.yml","line":12},"title":"a step"}}`
	if string(text) != want {
		t.Errorf("it was told\n%s\nand not\n%s", text, want)
	}
}

func TestEnvironmentOfPlugins(t *testing.T) {
	r := install(t, once(`echo "{\"status\": \"ok\", \"data\": {\"token\": \"${MOON_TEST_TOKEN-none}\", \"where\": \"$WHERE\", \"pwd\": \"$(pwd)\"}}"`))
	t.Setenv("MOON_TEST_TOKEN", "geheim-im-umfeld")
	job := r.job(t, nil)
	job.Cwd, job.Env = "/", map[string]string{"WHERE": "here"}
	job.Secrets = secret.NewSet()
	job.Secrets.AddEnv("MOON_TEST_TOKEN", "geheim-im-umfeld")
	got := r.local().Run(context.Background(), job)
	if got.Fields["token"] != "none" || got.Fields["where"] != "here" || got.Fields["pwd"] != "/" {
		t.Error(got.Fields)
	}
}

func TestOneShotPluginIsEndedInTime(t *testing.T) {
	r := install(t, once(`echo begun >&2; sleep 1000 & wait`))
	job := r.job(t, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		<-r.said
		cancel(fault.Expired)
	}()
	if got := r.local().Run(ctx, job); got.Outcome != events.Timeout {
		t.Errorf("%s %q", got.Outcome, got.Error)
	}
}

func TestAPluginThatChangedIsNotRun(t *testing.T) {
	r := install(t, once(`echo '{"status": "ok"}'`))
	path := r.action.Plugin.Path
	write(t, path, once(`echo '{"status": "changed"}'`), 0o755)
	if got := r.run(t, nil); got.Outcome != events.Failed || !strings.Contains(got.Error, "not what it was") {
		t.Errorf("%s %q", got.Outcome, got.Error)
	}
}

func TestDescriptions(t *testing.T) {
	describe := func(text string) string { return "#!/bin/sh\ncat <<'END'\n" + text + "\nEND\n" }
	for _, c := range []struct{ name, text, err string }{
		{"not JSON", describe("hello"), `it answered "hello", which is not a JSON object`},
		{"nothing", describe(""), `it answered "", which is not a JSON object`},
		{"no protocol", describe(`{"capabilities": [{"kind": "execute", "name": "fake.do"}]}`), "speaks protocol 0"},
		{"a later protocol", describe(`{"protocol": 2, "capabilities": [{"kind": "execute", "name": "fake.do"}]}`), "speaks protocol 2 of plugins, and this moon speaks 1"},
		{"nothing it can do", describe(`{"protocol": 1, "capabilities": []}`), "can do nothing"},
		{"a name of somebody else's", describe(`{"protocol": 1, "capabilities": [{"kind": "execute", "name": "shell"}]}`), "by its file name it can have `fake` and `fake.…`"},
		{"a kind of a later version", describe(`{"protocol": 1, "capabilities": [{"kind": "weather", "name": "fake"}]}`), `"weather"`},
		{"a status", "#!/bin/sh\necho no library >&2\nexit 4\n", "exit status 4: no library"},
		{"refused", describe(`{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "not today"}}`), "not today"},
		{"a broken schema", describe(`{"protocol": 1, "capabilities": [{"kind": "execute", "name": "fake.do", "schema": {"type": "nonsense"}}]}`), "the schema of fake.do cannot be used"},
		{"a schema that is elsewhere", describe(`{"protocol": 1, "capabilities": [{"kind": "execute", "name": "fake.do", "schema": {"$ref": "file:///etc/passwd"}}]}`), "a schema must be whole"},
		{"another place", describe(`{"protocol": 1, "capabilities": [{"kind": "execute", "name": "fake.do", "where": "moon"}]}`), "`where` of fake.do"},
		{"another action", describe(`{"protocol": 1, "capabilities": [{"kind": "execute", "name": "fake.dog"}]}`), "has no action `fake.do`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "plugins", "fake"), c.text, 0o755)
			registry := plugin.Find(plugin.Search{Beside: dir, TrustAll: true})
			if _, err := registry.Action("fake.do"); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("it said %v", err)
			}
		})
	}
}
