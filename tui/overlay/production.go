package overlay

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
)

// Production asks for a name before something is approved that must not be approved by one key. What is approved is what it
// asked about: if the plan, or what the keys would mean, becomes another meanwhile, nothing is.
type Production struct {
	do     keymap.Intent
	what   Approval
	digest string
	name   string // what has to be typed
	kind   string // what has that name
	banner string // the mark of the target
	input  textinput.Model
	wrong  bool // something else was typed
}

// NewProduction asks for a name before what an intent would approve is approved, on a target with a mark.
func NewProduction(s Screen, do keymap.Intent, what Approval, banner string) *Production {
	name, kind := NameToType(s.Plan, what.Ranges)
	return &Production{do: do, what: what, digest: s.Plan.Digest, name: name, kind: kind, banner: banner, input: NewInput()}
}

// Name is what has to be typed.
func (b *Production) Name() string { return b.name }

// Paste types into the line.
func (b *Production) Paste(_ Screen, msg tea.PasteMsg) []Want {
	b.input, _ = b.input.Update(msg)
	return nil
}

// Press takes the name. Enter confirms nothing unless the name is there.
func (b *Production) Press(_ Screen, msg tea.KeyPressMsg) []Want {
	switch msg.String() {
	case "esc":
		return []Want{Close{}, Say{"nothing was approved"}}
	case "enter":
		// Blanks count as they are drawn: two in a row would look like one.
		typed := typableName(b.input.Value())
		b.wrong = typed != "" && typed != b.name
		// Whether this is still the plan that was asked about is decided where the approval is carried out.
		return []Want{Approve{Do: b.do, What: b.what, Digest: b.digest, Named: typed == b.name}}
	}
	b.wrong = false
	b.input, _ = b.input.Update(msg)
	return nil
}

// Draw says what would be approved and what of it destroys, and asks for the name.
func (b *Production) Draw(s Screen, w, h int) (title string, body [][]draw.Text, foot string) {
	// Counted in each frame, as predictions keep arriving while the box is open.
	steps, destructive := b.what.Weigh(s.Run)
	verb := "Approve"
	if b.do == keymap.RunStep || b.do == keymap.RunOver {
		verb = "Approve and run"
	}
	where := strings.ToUpper(typableName(b.banner))
	if title = fmt.Sprintf("%s %s on %s?", verb, draw.Count(steps, "step"), where); draw.Cells(title) > w-1 {
		title = fmt.Sprintf("%s: %s?", where, draw.Count(steps, "step")) // what must not be cut comes first
	}

	ask := []draw.Text{
		draw.Inked(themes.Text, "type  "), draw.Inked(draw.InkTitle, b.name),
		draw.Inked(themes.Text, fmt.Sprintf("  (the name of the %s) and enter to approve", b.kind)),
	}
	question := draw.WrapSpans(ask, w)
	// Without room the explanation goes, never the name.
	if len(question) >= h {
		question = draw.WrapSpans(ask[:2], w)
	}
	if room := h - len(question) - 3; room > 0 {
		none := "No known destructive steps."
		if len(destructive) == 0 {
			body = append(body, []draw.Text{draw.Inked(themes.Text, draw.CutRight(none, w, s.Glyphs.Dots))})
		} else {
			head := []draw.Text{draw.Inked(themes.Warn, fmt.Sprintf("%d destructive", len(destructive)))}
			body = append(append(body, head), destructiveLines(s, destructive, w, min(room, 8))...)
		}
		body = append(body, nil)
	}
	body = append(append(body, question...), InputLine(s.Glyphs, &b.input))
	if n := len(body) - h; n > 0 {
		body = body[n:] // what is typed is seen in any case
	}
	if b.wrong {
		return title, body, "that is not the name   esc: back"
	}
	return title, body, "esc: back"
}
