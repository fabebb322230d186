package overlay_test

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"moon/plan"
	"moon/tui/known"
	"moon/tui/overlay"
)

// sheetScreen is a run of one step that uses a value.
func sheetScreen() overlay.Screen {
	s := newScreen()
	s.Run = known.New(known.Options{Plan: &plan.Plan{Name: "site", Steps: []plan.Step{{
		Name: "unpack", Action: "shell", Path: "unpack", Uses: []plan.Use{{Name: "version", Value: "1.2"}},
	}}}})
	return s
}

func onSheet(s overlay.Screen, f *overlay.Sheet, keys ...tea.KeyPressMsg) (wants []overlay.Want) {
	for _, k := range keys {
		wants = f.Press(s, k)
	}
	return wants
}

var (
	enter  = tea.KeyPressMsg{Code: tea.KeyEnter}
	esc    = tea.KeyPressMsg{Code: tea.KeyEscape}
	three  = tea.KeyPressMsg{Code: '3', Text: "3"}
	editor = tea.KeyPressMsg{Code: 'e', Mod: tea.ModCtrl}
)

// TestSheet plans with what is typed, one plan at a time, and gives the run nothing but by enter.
func TestSheet(t *testing.T) {
	s := sheetScreen()
	f := overlay.NewSheet(s, int(s.Tree.StepNode[0]), 0, true)
	plans, is := onSheet(s, f, three)[0].(overlay.PlanValues)
	if !is || plans.Sheet != f || len(plans.Fix.Values) != 1 || plans.Fix.Values[0].Value != `"1.23"` {
		t.Fatalf("%+v", plans)
	}
	same(t, "more is typed before the plan is there", onSheet(s, f, three))
	again, is := f.TakePlan(plans.Gen, nil, "there is no such version")[0].(overlay.PlanValues)
	if !is || again.Fix.Values[0].Value != `"1.233"` {
		t.Fatalf("%+v", again)
	}
	same(t, "the last plan", f.TakePlan(again.Gen, nil, "there is no such version"))
	if plans, is = onSheet(s, f, enter)[0].(overlay.PlanValues); !is || f.Note() != "it cannot be planned so" {
		t.Errorf("%+v: %s", plans, f.Note())
	}
	f.TakePlan(plans.Gen, nil, "there is no such version")
	plans, _ = onSheet(s, f, three)[0].(overlay.PlanValues)
	f.TakePlan(plans.Gen, s.Plan, "")
	given, is := onSheet(s, f, enter)[0].(overlay.GiveValues)
	if !is || given.Sheet != f || given.Fix.Values[0].Value != `"1.2333"` {
		t.Fatalf("%+v", given)
	}
}

// TestSheetEsc takes back what is typed first, and leaves then.
func TestSheetEsc(t *testing.T) {
	s := sheetScreen()
	f := overlay.NewSheet(s, int(s.Tree.StepNode[0]), 0, false)
	onSheet(s, f, three)
	if f.Changes() != 1 {
		t.Fatalf("%d changes", f.Changes())
	}
	onSheet(s, f, esc)
	if f.Changes() != 0 {
		t.Errorf("%d changes", f.Changes())
	}
	same(t, "esc again", onSheet(s, f, esc), overlay.CloseSheet{})
	same(t, "without an editor", onSheet(s, f, editor))
	if !strings.Contains(f.Note(), "no editor") {
		t.Error(f.Note())
	}
}

// TestSheetText has the editor open a value, and keeps it if the editor fails.
func TestSheetText(t *testing.T) {
	s := sheetScreen()
	f := overlay.NewSheet(s, int(s.Tree.StepNode[0]), 0, true)
	same(t, "ctrl+e", onSheet(s, f, editor), overlay.EditText{Sheet: f, Row: 0, Text: "1.2"})
	same(t, "a failure", f.TakeText(0, "", errors.New("it crashed")))
	if f.Changes() != 0 || f.Note() != "editor: it crashed" {
		t.Errorf("%d changes, %s", f.Changes(), f.Note())
	}
	same(t, "a row that has gone", f.TakeText(7, "x", nil))
	if wants := f.TakeText(0, "a\nb", nil); len(wants) != 1 || f.Rows[0].Now != "a\nb" {
		t.Errorf("%s: %q", words(wants), f.Rows[0].Now)
	}
}

// TestCarrySheet finds the step again in another plan, with what was typed.
func TestCarrySheet(t *testing.T) {
	s := sheetScreen()
	f := overlay.NewSheet(s, int(s.Tree.StepNode[0]), 0, true)
	onSheet(s, f, three)
	next := *s.Plan
	next.Steps = append([]plan.Step{{Name: "first", Path: "first"}}, next.Steps...)
	s.SetPlan(&next)
	carried := overlay.CarrySheet(s, f)
	if carried == nil || carried.Step != 1 || carried.Rows[0].Now != "1.23" {
		t.Fatalf("%+v", carried)
	}
	next.Steps = next.Steps[:1]
	if overlay.CarrySheet(s, f) != nil {
		t.Error("its step is not there any more")
	}
}

// TestForm asks for what is to be typed twice until it is the same.
func TestForm(t *testing.T) {
	s := newScreen()
	f := overlay.NewForm([]plan.Prompt{{Name: "pass", Private: true, Confirm: true}, {Name: "zone", Default: "eu"}})
	typed(s, f, "a")
	same(t, "another", typed(s, f, "b"))
	if !strings.Contains(drawn(s, f), "type both again") || f.Answers() != nil {
		t.Error(drawn(s, f))
	}
	typed(s, f, "a")
	typed(s, f, "a")
	same(t, "the default", typed(s, f, ""), overlay.Close{})
	if a := f.Answers(); a["pass"] != "a" || a["zone"] != "eu" {
		t.Errorf("%v", a)
	}
	left := overlay.NewForm([]plan.Prompt{{Name: "zone", Default: "eu"}})
	same(t, "esc", left.Press(s, esc), overlay.Close{})
	if left.Answers() != nil {
		t.Error("it was left, and has answers")
	}
}

// TestPrompt goes back to what was looked for before if nothing is typed, in an output.
func TestPrompt(t *testing.T) {
	s := newScreen()
	p := overlay.NewPrompt(false, true)
	same(t, "enter", p.Press(s, enter), overlay.EndFind{}, overlay.FindNext{By: 1})
	same(t, "a letter", p.Press(s, three), overlay.Find{Text: "3"})
	same(t, "enter with a text", p.Press(s, enter), overlay.EndFind{Keep: true})
	tree := overlay.NewPrompt(true, false)
	same(t, "tab", tree.Press(s, tea.KeyPressMsg{Code: tea.KeyTab}), overlay.Find{Only: false})
	same(t, "esc", tree.Press(s, esc), overlay.EndFind{})
}
