package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/view"
)

// productionBox asks for a name before something is approved that must not be approved by one key. What is approved is what it
// asked about: if the plan, or what the keys would mean, becomes another meanwhile, nothing is.
type productionBox struct {
	do     keymap.Intent
	what   approval
	digest string
	name   string // what has to be typed
	kind   string // what has that name
	input  textinput.Model
	wrong  bool // something else was typed
}

func newProductionBox(m *view.State, do keymap.Intent, what approval) *productionBox {
	name, kind := approving{m}.nameToType(what.ranges)
	return &productionBox{do: do, what: what, digest: m.Plan.Digest, name: name, kind: kind, input: view.NewInput()}
}

func (b *productionBox) PasteText(_ *view.State, msg tea.PasteMsg) tea.Cmd {
	b.input, _ = b.input.Update(msg)
	return nil
}

// pressKey takes the name. Enter confirms nothing unless the name is there.
func (b *productionBox) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.Overlay = nil
		m.ShowMessage("nothing was approved")
	case "enter":
		switch {
		case m.Plan.Digest != b.digest || !b.what.sameAs(approving{m}.wouldApprove(b.do)):
			m.Overlay = nil
			m.ShowMessage("things have changed meanwhile; nothing was approved")
		case typableName(b.input.Value()) == b.name:
			m.Overlay = nil
			deciding{m}.carryOut(b.do)
		default:
			b.wrong = typableName(b.input.Value()) != ""
		}
	default:
		b.wrong = false
		b.input, _ = b.input.Update(msg)
	}
	return nil
}

func (b *productionBox) DrawLines(m *view.State, w, h int) (title string, body [][]draw.Text, foot string) {
	steps, destructive := approving{m}.weighApproval(b.what)
	verb := "Approve"
	if b.do == keymap.RunStep || b.do == keymap.RunOver {
		verb = "Approve and run"
	}
	where := strings.ToUpper(typableName(m.Tools.Banner))
	if title = fmt.Sprintf("%s %s on %s?", verb, draw.Count(steps, "step"), where); draw.Cells(title) > w-1 {
		title = fmt.Sprintf("%s: %s?", where, draw.Count(steps, "step")) // what must not be cut comes first
	}

	ask := []draw.Text{
		draw.Inked(themes.Text, "type  "), draw.Inked(draw.InkTitle, b.name),
		draw.Inked(themes.Text, fmt.Sprintf("  (the name of the %s) and enter to approve", b.kind)),
	}
	question := draw.WrapSpans(ask, w)
	if len(question) >= h {
		question = draw.WrapSpans(ask[:2], w)
	}
	if room := h - len(question) - 3; room > 0 {
		none := "No known destructive steps."
		if len(destructive) == 0 {
			body = append(body, []draw.Text{draw.Inked(themes.Text, draw.CutRight(none, w, m.Glyphs.Dots))})
		} else {
			head := []draw.Text{draw.Inked(themes.Warn, fmt.Sprintf("%d destructive", len(destructive)))}
			body = append(append(body, head), approving{m}.destructiveLines(destructive, w, min(room, 8))...)
		}
		body = append(body, nil)
	}
	body = append(append(body, question...), m.InputLine(&b.input))
	if n := len(body) - h; n > 0 {
		body = body[n:] // what is typed is seen in any case
	}
	if b.wrong {
		return title, body, "that is not the name   esc: back"
	}
	return title, body, "esc: back"
}
