package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"moon/plan"
)

func askScreen(list []plan.Prompt, ascii bool, w, h int) *askProgram {
	profile := colorprofile.TrueColor
	o := Options{Glyphs: map[bool]string{false: "unicode", true: "ascii"}[ascii], Profile: &profile}
	f := newAskProgram(o, func(string) string { return "" }, list)
	_, _ = f.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return f
}

func (f *askProgram) keys(t *testing.T, keys ...string) (left bool) {
	t.Helper()
	for _, key := range keys {
		msgs := []tea.KeyPressMsg{}
		if k, ok := keyCodes[key]; ok {
			msgs = append(msgs, tea.KeyPressMsg(k))
		} else {
			for _, r := range key {
				msgs = append(msgs, tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
		for _, msg := range msgs {
			_, cmd := f.Update(msg)
			left = cmd != nil
		}
	}
	return left
}

var questions = []plan.Prompt{
	{Name: "release", Text: "Which release?", Default: "1.4.2"},
	{Name: "password", Text: "Password of the database", Private: true, Confirm: true},
	{Name: "region"},
}

func TestAskForm(t *testing.T) {
	f := askScreen(questions, false, 80, 24)
	if f.keys(t, "enter", "s3cret", "enter", "other", "enter") || !strings.Contains(plainFrame(f.drawForm()), "type both again") {
		t.Fatalf("two passwords that differ:\n%s", plainFrame(f.drawForm()))
	}
	f.keys(t, "s3cret", "enter", "s3cret", "enter", "eu")
	if frame := f.drawForm(); strings.Contains(frame, "s3cret") {
		t.Errorf("the password is on the screen:\n%s", plainFrame(frame))
	}
	if !f.keys(t, "enter") || f.form.Answers() == nil {
		t.Fatal("it is not done")
	}
	want := map[string]string{"release": "1.4.2", "password": "s3cret", "region": "eu"}
	if got := f.form.Answers(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answers %v", got)
	}
	if f := askScreen(questions, false, 80, 24); !f.keys(t, "esc") || f.form.Answers() != nil {
		t.Error("esc does not leave")
	}
}

func TestAskScenes(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		out := ""
		for _, size := range sizes {
			f := askScreen(questions, ascii, size.w, size.h)
			f.keys(t, "2.0", "enter", "s3cret", "enter")
			checkFrame(t, f.drawForm(), size.w, size.h)
			out += fmt.Sprintf("%d×%d\n%s", size.w, size.h, plainFrame(f.drawForm()))
		}
		golden(t, "ask/"+map[bool]string{false: "unicode", true: "ascii"}[ascii], out)
	}
}

func TestAskFrames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) plan.Prompt {
			return plan.Prompt{
				Name: name(rt), Text: name(rt), Default: name(rt), Private: rapid.Bool().Draw(rt, "private"), Confirm: rapid.Bool().Draw(rt, "confirm"),
			}
		}), 1, 8).Draw(rt, "prompts")
		w, h := rapid.IntRange(1, 130).Draw(rt, "w"), rapid.IntRange(1, 40).Draw(rt, "h")
		f := askScreen(list, rapid.Bool().Draw(rt, "ascii"), w, h)
		for range rapid.IntRange(0, 20).Draw(rt, "keys") {
			if key := rapid.SampledFrom([]string{"enter", "up", "down", "a", "世", "backspace"}).Draw(rt, "key"); f.keys(t, key) {
				break
			}
			checkFrame(rt, f.drawForm(), w, h)
		}
	})
}
