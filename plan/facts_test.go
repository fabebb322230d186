package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/plan"
	"moon/plan/bind"
	"moon/plan/planner"
	"moon/plan/show"
)

// planWith plans a playbook with facts that change with every call of volatile.
func planWith(t *testing.T, text string, volatile func() map[string]any, costly map[string]func() any) (*plan.Plan, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, ds := planner.New(plan.Options{
		Path: path, Dir: dir,
		Facts: plan.KnownFacts{Here: map[string]any{"os": "linux"}, Volatile: volatile, Costly: costly},
	})
	var b strings.Builder
	if err := ds.Print(&b); err != nil {
		t.Fatal(err)
	}
	return p, b.String()
}

// noResults is a run in which no step has ended.
type noResults struct{}

func (noResults) Registered(int) (map[string]any, bool) { return nil, false }
func (noResults) Broken(int) bool                       { return false }
func (noResults) Skipped(int) (bool, bool)              { return false, false }
func (noResults) Omitted(int) bool                      { return false }
func (noResults) Failed() []int                         { return nil }
func (noResults) Absent(int) (plan.Absence, bool)       { return plan.Absence{}, false }

func (noResults) Assigned(int) (map[string]any, bool) { return nil, false }

const volatilePlaybook = `
vars:
  stamp: "{{ date_time.iso8601 }}"
steps:
  - print: "{{ date_time.year }} {{ facts.date_time.year }} {{ stamp }} {{ os }}"
  - shell: x
    when: date_time.year == "2031"
  - print: "{{ facts.os }}"
`

func TestVolatileFactsAreUnknownUntilTheRun(t *testing.T) {
	n := 2029
	volatile := func() map[string]any {
		n++
		year := map[int]string{2030: "2030", 2031: "2031", 2032: "2032"}[n]
		return map[string]any{"date_time": map[string]any{"year": year, "iso8601": year + "-01-01"}}
	}
	first, ds := planWith(t, volatilePlaybook, volatile, nil)
	if first == nil {
		t.Fatal(ds)
	}
	if got := first.Steps[0].Args["msg"]; got != "{{ date_time.year }} {{ facts.date_time.year }} {{ stamp }} linux" {
		t.Errorf("planned as %v", got)
	}
	if got := first.Steps[1].Prediction; got != plan.MaySkip {
		t.Errorf("the condition is predicted as %v", got)
	}
	if got := first.Steps[2].Args["msg"]; got != "linux" {
		t.Errorf("a fact that does not change is planned as %v", got)
	}
	var tree strings.Builder
	if err := show.WriteTree(&tree, first, 0); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(tree.String(), "date_time (known after the run starts)") &&
		!strings.Contains(tree.String(), "date_time.year (known after the run starts)") {
		t.Error(tree.String())
	}
	// The first of these asks; the year stays that of the start.
	for range 2 {
		call, err := bind.New(first, 0, noResults{}).Call()
		if err != nil || call.Raw["msg"] != "2031 2031 2031-01-01 linux" {
			t.Errorf("runs as %v, %v", call, err)
		}
	}
	if holds, _, err := bind.New(first, 1, noResults{}).Holds(); !holds || err != nil {
		t.Errorf("the condition is %v, %v", holds, err)
	}
	second, _ := planWith(t, volatilePlaybook, volatile, nil)
	if second.Digest != first.Digest {
		t.Error("the digest of the plan depends on the time")
	}
}

func TestVolatileFactsCannotShapeThePlan(t *testing.T) {
	volatile := func() map[string]any { return map[string]any{"date_time": map[string]any{"weekday": "Monday"}} }
	for text, want := range map[string]string{
		"- include: \"{{ date_time.weekday }}.yml\"":                   "which file to include is known only after the run starts",
		"- shell: x\n  with_items: \"{{ date_time.weekday | list }}\"": "the items of this loop are known only after the run starts",
	} {
		if p, ds := planWith(t, text, volatile, nil); p != nil || !strings.Contains(ds, want) {
			t.Errorf("%s gives %s", text, ds)
		}
	}
}

func TestCostlyFactsAreFoundOutWhenNamed(t *testing.T) {
	asked := map[string]int{}
	costly := map[string]func() any{
		"docker_version": func() any { asked["docker"]++; return "28.2" },
		"git_version":    func() any { asked["git"]++; return "2.39" },
	}
	p, ds := planWith(t, "- print: \"{{ os }} {{ facts.os }}\"\n  # docker_version", nil, costly)
	if p == nil || len(asked) != 0 {
		t.Errorf("a playbook that names none asks for %v\n%s", asked, ds)
	}
	p, ds = planWith(t, "- print: \"{{ docker_version }}\"\n- print: \"{{ facts.git_version }}\"", nil, costly)
	if p == nil || p.Steps[0].Args["msg"] != "28.2" || p.Steps[1].Args["msg"] != "2.39" {
		t.Errorf("asked %v\n%s", asked, ds)
	}
	clear(asked)
	p, ds = planWith(t, "vars: {git_version: mine}\nsteps: [{print: \"{{ git_version }}\"}]", nil, costly)
	if p == nil || p.Steps[0].Args["msg"] != "mine" || len(asked) != 0 || ds != "" {
		t.Errorf("a variable of that name asks for %v\n%s", asked, ds)
	}
	if _, ds = planWith(t, "- print: \"{{ dokcer_version }}\"", nil, costly); !strings.Contains(ds, "did you mean `docker_version`?") {
		t.Error(ds)
	}
}
