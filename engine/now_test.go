package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	_ "moon/exec/action"
	"moon/exec/fsys"
	"moon/plan"
	"moon/secret"
)

const nowPlaybook = `
- include_vars: all.secret.yml
- name: read
  shell: x
  register: rel
- name: gone
  shell: x
  register: lost
  when: rel.stdout == 'other'
- name: quiet
  shell: x
  register: hidden
  no_log: true
- name: write {{ rel.stdout }}
  copy:
    dest: "%s/out-{{ rel.stdout }}"
    content: "release {{ rel.stdout }} {{ hidden.stdout }} {{ token }}"
  when: rel.stdout == '1.2.3'
- name: other
  shell: echo {{ rel.stdout }}
  when: rel.stdout != '1.2.3'
- name: later
  shell: x
  register: later
- name: last
  shell: echo {{ later.stdout }} {{ rel.stdout }}
  env: {RELEASE: "v{{ rel.stdout }}"}
- name: needs
  shell: echo {{ lost.stdout }}
`

// A step is shown with what the run knows: once what it uses is there, nothing of it is open, and what it would do is found out again.
func TestStepNow(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "playbook.yml")
	for name, text := range map[string]string{"playbook.yml": fmt.Sprintf(nowPlaybook, dir), "all.secret.yml": "token: seCret-of-all-1234\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, g := buildAt(t, path)
	at := map[string]int{}
	for i := range p.Steps {
		name, _, _ := strings.Cut(p.Steps[i].Name, " ")
		at[name] = i
	}
	r := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		text := "1.2.3"
		if job.NoLog {
			text = "seCret-of-no-log"
		}
		_, _ = job.Output.Stdout().Write([]byte(text))
		return exec.Result{Outcome: events.OK}
	}}
	p.Steps[at["write"]].Register = "" // nothing uses it
	s := begin(t, p, g, r, fact.Options{Forks: 1, Review: true, KeepOpen: true})
	w := watching(t, s, false)
	w.until("the review", func() bool { return w.run.Phase == events.Review && len(w.run.Steps) > 0 })
	now := func(name string) plan.Step {
		t.Helper()
		step, err := s.StepNow(p, at[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return step
	}
	before := now("write")
	if before.Prediction != plan.MaySkip || !before.WaitsFor("content") || !before.WaitsFor("when") || before.Name != p.Steps[at["write"]].Name {
		t.Errorf("before the run: %+v", before)
	}
	s.Send(events.Order{Command: events.Approve{Range: events.Range{From: 0, To: len(p.Steps)}}})
	s.Send(events.Order{Command: events.Break{Step: at["write"]}})
	s.Send(events.Order{Command: events.Continue{}})
	w.until("the breakpoint", func() bool { return w.run.Phase == events.Paused })

	write := now("write")
	if write.Prediction != plan.WillRun || len(write.Unknowns) > 0 || write.Name != "write 1.2.3" {
		t.Errorf("at the breakpoint: %+v", write)
	}
	if got, want := write.Args["dest"], dir+"/out-1.2.3"; got != want {
		t.Errorf("dest is %v, want %s", got, want)
	}
	if got, want := write.Args["content"], "release 1.2.3 "+secret.Mask+" "+secret.Mask; got != want {
		t.Errorf("content is %v, want %s", got, want)
	}
	if i := slices.IndexFunc(write.Uses, func(u plan.Use) bool { return u.Name == "rel" }); i < 0 {
		t.Errorf("it uses %+v", write.Uses)
	} else if value, after := plan.Display(write.Uses[i].Value); len(after) > 0 || !strings.Contains(value, "1.2.3") {
		t.Errorf("rel is %s, after %v", value, after)
	}
	if other := now("other"); other.Prediction != plan.WillSkip || len(other.Unknowns) > 0 {
		t.Errorf("what will be skipped: %+v", other)
	}
	last := now("last")
	if got := last.Args["cmd"]; got != "echo {{ later.stdout }} 1.2.3" || last.Env["RELEASE"] != "v1.2.3" {
		t.Errorf("of the rest the known part shows: %v", got)
	}
	if len(last.Unknowns) != 1 || !slices.Equal(last.Unknowns[0].Steps, []int{at["later"]}) {
		t.Errorf("it waits for %+v", last.Unknowns)
	}
	if _, err := s.StepNow(p, at["needs"]); err == nil || !strings.Contains(err.Error(), "«gone» was skipped") {
		t.Errorf("a value that will not come: %v", err)
	}
	if fmt.Sprintf("%+v", p.Steps[at["write"]].Args) == fmt.Sprintf("%+v", write.Args) || !p.Steps[at["write"]].WaitsFor("content") {
		t.Error("the plan itself was changed")
	}

	dry := func() *engine.Predictor {
		return &engine.Predictor{Plan: p, Dry: exec.DryRun{Overlay: fsys.NewOverlay()}}
	}
	f, err := s.Predict(context.Background(), at["write"], dry())
	if err != nil || f.Diff.Kind != events.ChangeCreate || f.Maybe || !strings.Contains(f.Diff.Text, "+release 1.2.3") || strings.Contains(f.Diff.Text, "seCret") {
		t.Errorf("%v, %+v", err, f)
	}
	if err := os.WriteFile(filepath.Join(dir, "out-1.2.3"), []byte("release 1.2.2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = s.Predict(context.Background(), at["write"], dry()); err != nil || f.Diff.Kind != events.ChangeUpdate {
		t.Errorf("after somebody else made it: %v, %+v", err, f)
	}
	if f, err = s.Predict(context.Background(), at["other"], dry()); err != nil || f.Skipped == "" {
		t.Errorf("what will be skipped: %v, %+v", err, f)
	}
	if f, err = s.Predict(context.Background(), at["last"], dry()); err != nil || !slices.Equal(f.After, []int{at["later"]}) {
		t.Errorf("what still waits: %v, %+v", err, f)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Predict(ended, at["write"], dry()); err == nil {
		t.Error("what nobody waits for any more was predicted")
	}
	if _, err := s.Eval(p, at["other"], "rel.stdout"); err != nil {
		t.Errorf("predicting changed what the run knows: %v", err)
	}

	text := strings.Replace(fmt.Sprintf(nowPlaybook, dir), "name: last\n", "name: last\n  tags: [new]\n", 1) + "- name: one more\n  shell: x\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p2, g2 := buildAt(t, path)
	if err := s.Replan(p2, g2); err != nil {
		t.Fatal(err)
	}
	if _, err := s.StepNow(p, at["write"]); err == nil {
		t.Error("a step of the plan before is bound")
	}
	p = p2
	if write := now("write"); write.Name != "write 1.2.3" {
		t.Errorf("under the new plan: %+v", write)
	}
	s.Send(events.Order{Command: events.Stop{How: events.StopDrain}})
	w.done()
}
