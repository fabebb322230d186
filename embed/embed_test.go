package embed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/embed"
	"moon/events"
)

func TestMain(m *testing.M) {
	embed.Agent()
	os.Exit(m.Run())
}

// planned plans the text of a playbook, in a directory of its own.
func planned(t *testing.T, b embed.Playbook) *embed.Plan {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	b.Path, b.Dir = "-", t.TempDir()
	p, err := b.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func started(t *testing.T, ctx context.Context, p *embed.Plan, o embed.Options) *embed.Run {
	t.Helper()
	o.State = t.TempDir()
	r, err := p.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun(t *testing.T) {
	const said = `it's {"here"}`
	p := planned(t, embed.Playbook{
		Text: "exports: [said]\nsteps:\n  - {name: first, shell: 'echo {{ word | quote }}', register: r, tags: [a]}\n  - {set_fact: {said: '{{ r.stdout | trim }}'}}\n" +
			"  - {name: no, shell: exit 1, tags: [never-run]}\n",
		Vars: map[string]any{"word": said}, SkipTags: []string{"never-run"},
	})
	if len(p.Steps) != 3 || p.Steps[0].Name != "first" || p.Steps[0].Action != "shell" || p.Steps[0].Line != 3 || !p.Steps[2].Excluded || p.Digest == "" {
		t.Errorf("%+v", p.Steps)
	}
	var doc bytes.Buffer
	if err := p.WriteJSON(&doc); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Digest string
		Steps  []struct{ Name string }
	}
	if err := json.Unmarshal(doc.Bytes(), &read); err != nil || read.Digest != p.Digest || len(read.Steps) != 3 {
		t.Errorf("%v: %+v", err, read)
	}
	var tree bytes.Buffer
	if err := p.WriteTree(&tree, 80); err != nil || !strings.Contains(tree.String(), "first") {
		t.Errorf("%v: %s", err, tree.String())
	}
	r := started(t, t.Context(), p, embed.Options{})
	// Two readers get the same, and one that goes away keeps nobody.
	for range r.Events(t.Context()) {
		break
	}
	var types []string
	lines := ""
	for e := range r.Events(t.Context()) {
		types = append(types, events.Type(e.Event))
		if out, is := e.Event.(events.StepOutput); is {
			lines += out.Line
		}
	}
	result, err := r.Wait()
	if err != nil || result.Outcome != events.RunDone || !result.Success || result.Executed != 2 || result.Exports["said"] != said {
		t.Errorf("%v: %+v", err, result)
	}
	if types[0] != "run.started" || types[len(types)-1] != "run.completed" || lines != said {
		t.Errorf("%v\n%s", types, lines)
	}
	if again := slices.Collect(r.Events(t.Context())); len(again) != len(types) {
		t.Errorf("%d events after the end, and %d before", len(again), len(types))
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "journal.jsonl")); err != nil {
		t.Error(err)
	}
	// The same plan runs as often as it is started.
	second := started(t, t.Context(), p, embed.Options{})
	if result, err := second.Wait(); err != nil || result.Outcome != events.RunDone || second.ID == r.ID {
		t.Errorf("%v: %+v", err, result)
	}
}

func TestMistakes(t *testing.T) {
	_, err := embed.Playbook{Path: "-", Text: "- shel: x\n- {copy: {dest: /x}}\n"}.Plan(t.Context())
	m, is := errors.AsType[*embed.Mistakes](err)
	if !is || len(m.Diagnostics) < 2 || m.Diagnostics[0].Line != 1 || !strings.Contains(err.Error(), `did you mean`) {
		t.Errorf("%v", err)
	}
	if _, err := (embed.Playbook{}).Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "Path is empty") {
		t.Error(err)
	}
	if _, err := (embed.Playbook{Path: "nowhere.yml"}).Plan(t.Context()); err == nil {
		t.Error("a file that is not there is planned")
	}
	if _, err := (embed.Playbook{Path: "-", Vars: map[string]any{"f": func() {}}}).Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "Vars") {
		t.Error(err)
	}
}

func TestConfirm(t *testing.T) {
	p := planned(t, embed.Playbook{Text: "- {name: drop, shell: echo gone, confirm: 'really?'}\n"})
	if _, err := p.Start(t.Context(), embed.Options{State: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "step-0001  drop") {
		t.Errorf("%v", err)
	}
	r := started(t, t.Context(), p, embed.Options{Approve: []string{"drop"}})
	if result, err := r.Wait(); err != nil || result.Outcome != events.RunDone {
		t.Errorf("%v: %+v", err, result)
	}
}

// TestFailure has a step that fails be a result, and not an error.
func TestFailure(t *testing.T) {
	p := planned(t, embed.Playbook{Text: "- {name: no, shell: exit 3}\n- {name: other, shell: 'true', needs: []}\n"})
	result, err := started(t, t.Context(), p, embed.Options{OnFailure: embed.Continue}).Wait()
	if err != nil || result.Outcome != events.RunFailed || result.Failed != 1 {
		t.Errorf("%v: %+v", err, result)
	}
}

// TestCancel stops a run by its context, and one by a command; what must always run does.
func TestCancel(t *testing.T) {
	text := "- block:\n    - {name: long, shell: sleep 60}\n  always:\n    - {name: tidy, shell: echo tidied}\n"
	for name, stop := range map[string]func(r *embed.Run, cancel func()){
		"context": func(_ *embed.Run, cancel func()) { cancel() },
		"command": func(r *embed.Run, _ func()) { r.Send(events.Stop{How: events.StopInterrupt}) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := started(t, ctx, planned(t, embed.Playbook{Text: text}), embed.Options{})
			begin := time.Now()
			for e := range r.Events(t.Context()) {
				if _, is := e.Event.(events.StepStarted); is && e.Step == 0 {
					stop(r, cancel)
				}
			}
			result, err := r.Wait()
			if err != nil || result.Outcome != events.RunStopped && result.Outcome != events.RunInterrupted || time.Since(begin) > 50*time.Second {
				t.Errorf("after %s: %v: %+v", time.Since(begin), err, result)
			}
		})
	}
}

// TestHosts runs a play over hosts that are this machine, with an answer to its question.
func TestHosts(t *testing.T) {
	p := planned(t, embed.Playbook{
		Text:      "- hosts: all\n  gather_facts: false\n  vars_prompt: [{name: colour, private: false}]\n  tasks:\n    - {name: say, shell: 'echo {{ colour }} on {{ inventory_hostname }}'}\n",
		Inventory: []string{"a,b,c,"}, Limit: "!c", Answers: map[string]string{"colour": "blue"}, Vars: map[string]any{"ansible_connection": "local"},
	})
	var lines []string
	r := started(t, t.Context(), p, embed.Options{})
	for e := range r.Events(t.Context()) {
		if out, is := e.Event.(events.StepOutput); is {
			lines = append(lines, out.Line)
		}
	}
	slices.Sort(lines)
	result, err := r.Wait()
	if err != nil || len(result.Hosts) != 2 || strings.Join(lines, ";") != "blue on a;blue on b" {
		t.Errorf("%v: %+v, %q", err, result, lines)
	}
}

// TestCheck changes nothing in a dry run.
func TestCheck(t *testing.T) {
	p := planned(t, embed.Playbook{Text: "- {copy: {dest: there, content: x}}\n", Check: true, Diff: true})
	diff := ""
	r := started(t, t.Context(), p, embed.Options{})
	for e := range r.Events(t.Context()) {
		if done, is := e.Event.(events.StepCompleted); is && done.Diff != nil {
			diff = done.Diff.Text
			if _, err := os.Stat(done.Diff.Path); err == nil {
				t.Errorf("%s was written", done.Diff.Path)
			}
		}
	}
	if _, err := r.Wait(); err != nil || !strings.Contains(diff, "+x") {
		t.Errorf("%v: %q", err, diff)
	}
}

// TestOutside builds the example as a program of a module of its own, outside of moon's tree, and runs it: twice, so that the second time
// there is nothing to do.
func TestOutside(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("main.go", read("examples/embed/main.go"))
	// What moon requires is what the program requires; go mod tidy would write the same, from the network.
	_, requires, _ := strings.Cut(read("go.mod"), "\n\n")
	write("go.mod", "module example.org/site\n\n"+requires+"\nrequire moon v0.0.0\n\nreplace moon => "+root+"\n")
	write("go.sum", read("go.sum"))
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "XDG_STATE_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	run("go", "build", "-o", "site", ".")
	for _, want := range []string{"done: 2 of 3 steps changed something\n", "done: 0 of 3 steps changed something\n"} {
		if out := run(filepath.Join(dir, "site")); !strings.HasPrefix(out, "step-0001  file    the directory of the site\n") ||
			!strings.HasSuffix(out, want) || !strings.Contains(out, "  | Hello is in public\n") {
			t.Errorf("%s\nwant %s", out, want)
		}
	}
}

// TestPage has the program of docs/embed.md be the example.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/embed.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../examples/embed/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := bytes.Cut(page, []byte("\n```go\n"))
	code, _, _ = bytes.Cut(code, []byte("```\n"))
	if !bytes.HasSuffix(example, code) || !bytes.HasPrefix(code, []byte("package main\n")) {
		t.Errorf("the page shows another program than examples/embed/main.go:\n%s", code)
	}
}
