package tui

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/view"
)

// breakSheet asks what a breakpoint is to stop for: the one before a step, or before each step of a scope.
type breakSheet struct {
	steps  events.Range
	title  string
	fields [breakFields]textinput.Model
	at     int
	set    bool   // there is one
	hits   int    // how often that has stopped
	wrong  string // with what is in the fields

	now     status.Value // what the condition is at the pointer
	checked string       // the condition it was asked for
}

const (
	breakWhen = iota
	breakAfter
	breakLog
	breakFields
)

var breakLabels = [breakFields]struct{ name, words string }{
	{"condition", "stops only where this is true"},
	{"count", "passes so often before it stops"},
	{"message", "says this, and does not stop"},
}

// longestField bounds what is typed.
const longestField = 1000

// openBreakSheet asks for the condition, count or message of a breakpoint.
func (m deciding) openBreakSheet() tea.Cmd {
	n := m.CursorNode()
	r := m.Tree.Steps(n)
	b := &breakSheet{steps: r, title: "Breakpoint before " + m.Tree.Title(n)}
	if m.Tree.Step(n) < 0 {
		b.title = fmt.Sprintf("Breakpoint before each of %s of %s", draw.Count(r.To-r.From, "step"), m.Tree.Title(n))
	}
	for i := range b.fields {
		b.fields[i] = view.NewInput()
		b.fields[i].CharLimit = longestField
	}
	if have, ok := m.Breaks[r.From]; ok {
		b.set, b.hits = true, have.Hits
		b.fields[breakWhen].SetValue(have.Set.When)
		b.fields[breakLog].SetValue(have.Set.Log)
		if have.Set.After > 0 {
			b.fields[breakAfter].SetValue(strconv.Itoa(have.Set.After))
		}
	}
	b.fields[b.at].CursorEnd()
	m.Overlay = b
	b.checkFields(m.State)
	return b.tryCondition(m.State)
}

func (b *breakSheet) fieldText(field int) string { return strings.TrimSpace(b.fields[field].Value()) }

// readCommand returns the command that the fields ask for; wrong says why they ask for none.
func (b *breakSheet) readCommand(m *view.State) (c events.Break, wrong string) {
	c = events.Break{Step: b.steps.From, When: b.fieldText(breakWhen), Log: b.fieldText(breakLog)}
	if b.steps.To > b.steps.From+1 {
		c.To = b.steps.To
	}
	if text := b.fieldText(breakAfter); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return c, "the count is a number, such as 3"
		}
		c.After = n
	}
	if m.Tools.CheckBreak != nil {
		if err := m.Tools.CheckBreak(m.Plan, c.When, c.Log); err != nil {
			return c, err.Error()
		}
	}
	return c, ""
}

func (b *breakSheet) checkFields(m *view.State) { _, b.wrong = b.readCommand(m) }

// tryCondition finds out what the condition is now.
func (b *breakSheet) tryCondition(m *view.State) tea.Cmd {
	when := b.fieldText(breakWhen)
	if when == b.checked {
		return nil
	}
	b.checked, b.now = when, status.Value{}
	if when == "" || b.wrong != "" || m.CannotWatch() != "" {
		return nil
	}
	p, step, eval := m.Plan, watchPane{m}.watchStep(), m.Tools.Eval
	return func() tea.Msg {
		v := status.Eval(eval).Value(p, step, when)
		return view.Came{Then: func(*view.State) tea.Cmd {
			if b.checked == when {
				b.now = v
			}
			return nil
		}}
	}
}

func (b *breakSheet) PasteText(m *view.State, msg tea.PasteMsg) tea.Cmd {
	b.fields[b.at], _ = b.fields[b.at].Update(msg)
	b.checkFields(m)
	return b.tryCondition(m)
}

func (b *breakSheet) PressKey(m *view.State, msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.Overlay = nil
	case "tab", "down":
		b.at = (b.at + 1) % breakFields
	case "shift+tab", "up":
		b.at = (b.at + breakFields - 1) % breakFields
	case "ctrl+d":
		m.Overlay = nil
		deciding{m}.clearBreaks(b.steps)
	case "enter":
		c, wrong := b.readCommand(m)
		if b.wrong = wrong; wrong == "" {
			m.Overlay = nil
			m.Send(c)
		}
	default:
		b.fields[b.at], _ = b.fields[b.at].Update(msg)
		b.checkFields(m)
		return b.tryCondition(m)
	}
	return nil
}

// clearBreaks takes the breakpoints of a range away.
func (m deciding) clearBreaks(r events.Range) {
	for step := range m.Breaks {
		if r.Has(step) {
			c := events.Break{Step: r.From, Clear: true}
			if r.To > r.From+1 {
				c.To = r.To
			}
			m.Send(c)
			return
		}
	}
	m.ShowMessage("no breakpoint here")
}

func (b *breakSheet) DrawLines(m *view.State, w, h int) (title string, body [][]draw.Text, foot string) {
	for i, label := range breakLabels {
		mark, look := draw.Inked(themes.Text, "  "), themes.Dim
		if i == b.at {
			mark, look = draw.Inked(themes.Accent, m.Glyphs.Pointer+" "), themes.Text
		}
		line := []draw.Text{mark, draw.Inked(look, label.name+draw.Spaces(max(draw.LabelWidth+1-len(label.name), 1)))}
		switch value := b.fields[i].Value(); {
		case i == b.at:
			line = append(line, m.InputLine(&b.fields[i])[1:]...)
			if value == "" {
				line = append(line, draw.Inked(themes.Dim, " "+label.words))
			}
		case value == "":
			line = append(line, draw.Inked(themes.Dim, label.words))
		default:
			line = append(line, draw.Inked(themes.Text, draw.Plain(value)))
		}
		body = append(body, line)
	}
	body = append(body, nil, []draw.Text{b.stateText(m, w)})
	if h < len(body) { // what is wrong is worth more than the blank line
		body = append(body[:breakFields], body[breakFields+1:]...)
	}
	foot = "enter sets it   tab next   esc closes"
	if b.set {
		foot = "enter sets it   ctrl+d clears it   tab next   esc closes"
	}
	return draw.Plain(b.title), body, foot
}

// stateText is what there is to say of what is in the fields.
func (b *breakSheet) stateText(m *view.State, w int) draw.Text {
	s := draw.Inked(themes.Dim, "")
	switch {
	case b.wrong != "":
		s = draw.Inked(themes.Warn, view.OneLine(b.wrong))
	case b.now.Wrong != "":
		s = draw.Inked(themes.Warn, "at the pointer: "+view.OneLine(b.now.Wrong))
	case b.now.After != nil:
		s.S = "at the pointer: " + m.WhenKnown(b.now.After)
	case b.now.Text != "":
		s.S = "at the pointer it is " + view.QuotedLines(b.now.Text)
	case b.set:
		s.S = "hit " + strconv.Itoa(b.hits)
	case b.steps.To > b.steps.From+1:
		s.S = "without any of these it stops before each of these steps"
	default:
		s.S = "without any of these it always stops"
	}
	s.S = draw.CutRight(draw.Plain(s.S), w, m.Glyphs.Dots)
	return s
}
