package tui

import (
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"moon/events"
	"moon/plan"
)

// Any names in breakpoints, watches, their values and their errors, in any box, at any size: every frame fits, and nothing but
// what asks the run is sent.
func TestDebuggingAlwaysFits(t *testing.T) {
	keys := []string{
		"B", "W", ":", "?", "tab", "enter", "enter", "esc", "up", "down", "ctrl+d", "d", "g", "j", "G", "1", "3", "4", "b", "space", "v", "backspace",
		"pgdown", "pgup", "home", "end", "e", "f", "x", "1", "A", "s", "c",
	}
	typed := append([]string{"breaks", "goto a", "p x", "watch x", "filter all", "filter x", "break a if 1", "theme moonlight", "theme x", "x == 1"}, nasty...)
	rapid.Check(t, func(rt *rapid.T) {
		s := newScreen(t, setup{p: drawPlan(rt), w: 80, h: 24, ascii: rapid.Bool().Draw(rt, "ascii")})
		s.m.Tools.Eval = func(_ *plan.Plan, step int, text string) (string, error) {
			switch len(text) % 4 {
			case 0:
				return "", &plan.Missing{Name: text, Steps: []int{step, -1, 9999}}
			case 1:
				return "", errors.New(text)
			case 2:
				return text + "\n" + text + "\x1b[31m\r" + text, nil
			}
			return text, nil
		}
		s.m.Tools.CheckBreak = func(_ *plan.Plan, when, _ string) error {
			if len(when)%2 == 1 {
				return errors.New(when)
			}
			return nil
		}
		s.m.Tools.ParseBreak = func(p *plan.Plan, text string) ([]events.Command, string) {
			if len(p.Steps) == 0 || len(text)%2 == 1 {
				return nil, text
			}
			return []events.Command{events.Break{Step: 0, To: len(p.Steps), When: text, After: 3, Log: text}}, ""
		}
		w, h := 80, 24
		for range rapid.IntRange(1, 30).Draw(rt, "actions") {
			switch rapid.IntRange(0, 6).Draw(rt, "what") {
			case 0:
				w, h = rapid.IntRange(1, 140).Draw(rt, "w"), rapid.IntRange(1, 50).Draw(rt, "h")
				s.Send(windowSize(w, h))
			case 1:
				s.f.Tick()
				s.frame()
			case 2:
				s.Send(tea.PasteMsg{Content: rapid.SampledFrom(typed).Draw(rt, "text")})
			default:
				s.press(rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			checkFrame(rt, s.m.View().Content, w, h)
		}
		if err := s.m.crash; err != nil {
			rt.Fatal(err)
		}
	})
}
