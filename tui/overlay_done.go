package tui

import (
	"fmt"
	"slices"
	"strings"

	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
)

// doneBox decides about what is done, and what shall count as done: run it again, keep it, mark it. It says what depends on
// it, because that keeps what it was made from. Nothing else runs a step again that succeeded.
type doneBox struct {
	what       string
	ranges     []events.Range
	again      []int // done, and can run again
	outdated   int
	dependents []int // done, and depending on those that would run again or be marked
	markable   int
}

// newDoneBox looks at the node under the cursor, or the marks.
func newDoneBox(m *view.State, ranges []events.Range, single bool) *doneBox {
	b := &doneBox{ranges: ranges, what: draw.Plain(m.Tree.Title(m.CursorNode()))}
	var about []int
	n := 0
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			n++
			switch {
			case m.CanRunAgain(i):
				b.again = append(b.again, i)
			case m.Position().MayMark(i):
				b.markable++
			default:
				continue
			}
			if m.Tree.Faces[i] == status.Outdated {
				b.outdated++
			}
			about = append(about, i)
		}
	}
	if !single {
		b.what = draw.Count(n, "step")
	}
	b.dependents = slices.DeleteFunc(m.Plan.Dependents(about), func(i int) bool { return !m.CanRunAgain(i) })
	return b
}

// openDone opens the box about the node under the cursor.
func (m deciding) openDone() {
	ranges, single := m.DecisionTargets()
	m.Overlay = newDoneBox(m.State, ranges, single)
}

func (b *doneBox) PasteText(*view.State, tea.PasteMsg) tea.Cmd { return nil }

func (b *doneBox) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	m.Overlay = nil
	key := msg.String()
	switch {
	case key == "r" && b.canRun(m):
		m.Send(b.rerunCommand(false))
	case key == "w" && b.canRun(m) && len(b.dependents) > 0:
		m.Send(b.rerunCommand(true))
	case key == "k" && b.outdated > 0:
		for _, r := range b.ranges {
			if (deciding{m}).outdatedIn(r) > 0 {
				m.Send(events.Keep{Range: r})
			}
		}
	case key == "m" && b.markable > 0:
		for _, r := range b.ranges {
			if (deciding{m}).markableIn(r) {
				m.Send(events.Mark{Range: r})
			}
		}
	default:
		return nil
	}
	m.Cur.Clear()
	return nil
}

func (b *doneBox) canRun(m *view.State) bool { return len(b.again) > 0 && m.MayRunAgain() }

// rerunCommand is one command for all of them: they run one after the other.
func (b *doneBox) rerunCommand(with bool) events.Command {
	return events.Rerun{Range: events.Range{From: b.again[0], To: b.again[len(b.again)-1] + 1}, Steps: b.again, With: with}
}

func (m deciding) outdatedIn(r events.Range) int {
	return int(m.Position().Tally(r)[status.Outdated])
}

func (m deciding) markableIn(r events.Range) bool {
	for i := r.From; i < r.To; i++ {
		if m.Position().MayMark(i) {
			return true
		}
	}
	return false
}

// dependentsShown is how many of the steps that depend on it are named.
const dependentsShown = 3

func (b *doneBox) DrawLines(m *view.State, w, _ int) (title string, body [][]draw.Text, foot string) {
	para := func(s string) {
		for _, part := range draw.WrapText(s, max(w, 8)) {
			body = append(body, []draw.Text{draw.Inked(themes.Text, part)})
		}
	}
	para(b.what)
	if b.outdated > 0 {
		body = append(body, []draw.Text{draw.Inked(themes.Warn, doneText(b.outdated, len(b.again))+"; the definition has changed since")})
	}
	if names := (deciding{m}).namesOf(b.dependents, dependentsShown); names != "" {
		para("Done, and depending on it: " + names)
	}
	body = append(body, nil)
	title = "Mark as done?"
	if len(b.again) > 0 {
		title = "Run again?"
		if b.canRun(m) {
			body = append(body, draw.Hint("r", "run "+onlyText(len(b.again))+" again"))
			if n := len(b.dependents); n > 0 {
				body = append(body, draw.Hint("w", fmt.Sprintf("run again with the %s depending on it", draw.Count(n, "done step"))))
			}
		} else {
			body = append(body, []draw.Text{draw.Inked(themes.Dim, m.Keys.Label(keymap.RunPause)+" pauses the run; then it can run again")})
		}
	}
	if b.outdated > 0 {
		body = append(body, draw.Hint("k", "keep as it is, and do not ask again"))
	}
	if b.markable > 0 {
		words := "mark as done: it counts as ok and is not run"
		if b.markable > 1 {
			words = fmt.Sprintf("mark %s as done: they count as ok and are not run", draw.Count(b.markable, "step"))
		}
		body = append(body, draw.Hint("m", words))
	}
	return title, append(body, draw.Hint("esc", "back")), ""
}

// onlyText is what runs again without what depends on it.
func onlyText(n int) string {
	if n == 1 {
		return "this step"
	}
	return draw.Count(n, "done step")
}

func doneText(n, of int) string {
	if of == 1 {
		return "Done with an earlier definition"
	}
	return fmt.Sprintf("%d of %d done with an earlier definition", n, of)
}

// namesOf are the names of some steps, at most so many.
func (m deciding) namesOf(steps []int, most int) string {
	var names []string
	for _, i := range steps[:min(len(steps), most)] {
		names = append(names, draw.Plain(m.TitleOn(&m.Plan.Steps[i])))
	}
	if more := len(steps) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
