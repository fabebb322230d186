package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/bind"
	"moon/plan/planner"
)

// sources are the places that give a variable its value in a playbook of steps, lowest first. Those with the same rank
// follow the order of the file.
var sources = []struct {
	name string
	rank int
}{
	{"fact", 0},
	{"vars_prompt", 1},
	{"vars_files", 2},
	{"root vars", 3},
	{"vars step", 4},
	{"include_vars", 4},
	{"block vars", 5},
	{"step vars", 6},
	{"set_fact", 7},
	{"register", 7},
	{"include vars", 8},
	{"loop", 9},
	{"--vars-file", 10},
	{"-e", 11},
}

// TestPrecedence sets a variable in every two places, and asks a step at the end, while it runs, what it is.
func TestPrecedence(t *testing.T) {
	for i, low := range sources {
		for _, high := range sources[i+1:] {
			t.Run(low.name+" and "+high.name, func(t *testing.T) {
				if got := valueWith(t, low.name, high.name); got != high.name {
					t.Errorf("it is that of %s", got)
				}
				if low.rank == high.rank {
					if got := valueWith(t, high.name, low.name); got != low.name {
						t.Errorf("in the other order it is that of %s", got)
					}
				}
			})
		}
	}
}

func valueWith(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := plan.Options{Path: filepath.Join(dir, "p.yml"), Dir: dir, Home: dir, User: "ada", Facts: plan.KnownFacts{Here: map[string]any{}}}
	var head, before strings.Builder
	step := []string{`print: "{{ x }}"`}
	wrap := map[string]bool{}
	for _, name := range names {
		switch name {
		case "fact":
			o.Facts.Here["x"] = name
		case "vars_prompt":
			head.WriteString("vars_prompt: [{name: x, private: false}]\n")
			o.Outside.Ask = func([]plan.Prompt) (map[string]string, error) { return map[string]string{"x": "vars_prompt"}, nil }
		case "vars_files":
			write("vars.yml", "x: "+name)
			head.WriteString("vars_files: vars.yml\n")
		case "root vars":
			head.WriteString("vars: {x: root vars}\n")
		case "vars step":
			before.WriteString("- vars: {x: vars step}\n")
		case "include_vars":
			write("more.yml", "x: "+name)
			before.WriteString("- include_vars: more.yml\n")
		case "set_fact":
			before.WriteString("- set_fact: {x: set_fact}\n")
		case "register":
			before.WriteString("- shell: x\n  register: x\n")
		case "step vars":
			step = append(step, "vars: {x: step vars}")
		case "loop":
			step = append(step, "loop: [loop]", "loop_control: {loop_var: x}")
		case "--vars-file":
			write("outside.yml", "x: "+name)
			o.Values.Files = append(o.Values.Files, "outside.yml")
		case "-e":
			o.Values.Extra = append(o.Values.Extra, "x=-e")
		default:
			wrap[name] = true
		}
	}
	last := "- " + strings.Join(step, "\n  ")
	if wrap["include vars"] {
		write("inc.yml", last)
		last = "- include: inc.yml\n  vars: {x: include vars}"
	}
	if wrap["block vars"] {
		last = "- block:\n  " + strings.ReplaceAll(last, "\n", "\n  ") + "\n  vars: {x: block vars}"
	}
	write("p.yml", head.String()+"steps:\n"+before.String()+last)
	p, ds := planner.New(o)
	if p == nil {
		t.Fatalf("%v", ds)
	}
	call, err := bind.New(p, len(p.Steps)-1, ran{p}).Call()
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(call.Raw["msg"])
	if !slices.Contains(names, got) { // what register gives is a map
		return "register"
	}
	return got
}

// ran is what steps have given, all of them having run.
type ran struct{ p *plan.Plan }

func (r ran) Registered(step int) (map[string]any, bool) {
	return map[string]any{"stdout": "register"}, r.p.Steps[step].Register != ""
}

func (r ran) Broken(int) bool { return false }

func (r ran) Assigned(step int) (map[string]any, bool) {
	return r.p.Steps[step].Args, r.p.Steps[step].Action == "set_fact"
}

func (ran) Failed() []int { return nil }
