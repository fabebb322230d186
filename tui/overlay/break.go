package overlay

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
)

// Break asks what a breakpoint is to stop for: the one before a step, or before each step of a scope.
type Break struct {
	steps  events.Range
	plan   string // the digest of the plan that has these steps
	title  string
	fields [breakFields]textinput.Model
	at     int
	set    bool   // there is one
	hits   int    // how often that has stopped
	wrong  string // with what is in the fields
	check  func(p *plan.Plan, when, log string) error

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

// LongestField bounds what is typed.
const LongestField = 1000

// NewBreak asks for the condition, count or message of the breakpoints at and below a node. check says what is wrong with a condition
// or a message; nil: nothing is checked.
func NewBreak(s Screen, n int, check func(p *plan.Plan, when, log string) error) (*Break, []Want) {
	r := s.Tree.Steps(n)
	b := &Break{steps: r, plan: s.Plan.Digest, title: "Breakpoint before " + s.Tree.Title(n), check: check}
	if s.Tree.Step(n) < 0 {
		b.title = fmt.Sprintf("Breakpoint before each of %s of %s", draw.Count(r.To-r.From, "step"), s.Tree.Title(n))
	}
	for i := range b.fields {
		b.fields[i] = NewInput()
		b.fields[i].CharLimit = LongestField
	}
	// In a scope the breakpoint of the first step stands for all of them, as enter sets the same one at each.
	if have, ok := s.Breaks[r.From]; ok {
		b.set, b.hits = true, have.Hits
		b.fields[breakWhen].SetValue(have.Set.When)
		b.fields[breakLog].SetValue(have.Set.Log)
		if have.Set.After > 0 {
			b.fields[breakAfter].SetValue(strconv.Itoa(have.Set.After))
		}
	}
	b.fields[b.at].CursorEnd()
	b.checkFields(s)
	return b, b.tryCondition()
}

func (b *Break) fieldText(field int) string { return strings.TrimSpace(b.fields[field].Value()) }

// readCommand returns the command that the fields ask for; wrong says why they ask for none.
func (b *Break) readCommand(s Screen) (c events.Break, wrong string) {
	c = events.Break{Step: b.steps.From, When: b.fieldText(breakWhen), Log: b.fieldText(breakLog)}
	// Without To the command is about one step.
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
	if b.check != nil {
		if err := b.check(s.Plan, c.When, c.Log); err != nil {
			return c, err.Error()
		}
	}
	return c, ""
}

func (b *Break) checkFields(s Screen) { _, b.wrong = b.readCommand(s) }

// tryCondition wants to know what the condition is now.
func (b *Break) tryCondition() []Want {
	when := b.fieldText(breakWhen)
	if when == b.checked {
		return nil
	}
	// The old value goes at once: next to a new condition it would be read as the value of that.
	b.checked, b.now = when, status.Value{}
	if when == "" || b.wrong != "" {
		return nil
	}
	return []Want{Evaluate{when}}
}

// TakeValue takes what an expression is, if it is still the condition.
func (b *Break) TakeValue(expression string, v status.Value) {
	// It was evaluated in the background, and more may have been typed since.
	if b.checked == expression {
		b.now = v
	}
}

// Paste types into the field.
func (b *Break) Paste(s Screen, msg tea.PasteMsg) []Want {
	b.fields[b.at], _ = b.fields[b.at].Update(msg)
	b.checkFields(s)
	return b.tryCondition()
}

// Press goes through the fields, and sets or clears the breakpoint.
func (b *Break) Press(s Screen, msg tea.KeyPressMsg) []Want {
	switch msg.String() {
	case "esc":
		return []Want{Close{}}
	case "tab", "down":
		b.at = (b.at + 1) % breakFields
	case "shift+tab", "up":
		b.at = (b.at + breakFields - 1) % breakFields
	case "ctrl+d":
		return []Want{Close{}, b.clearBreaks(s)}
	case "enter":
		// Read anew: the plan may have been replaced since the last key, and with it what is wrong.
		c, wrong := b.readCommand(s)
		if b.wrong = wrong; wrong == "" {
			return []Want{Close{}, Send{c, b.plan}}
		}
	default:
		b.fields[b.at], _ = b.fields[b.at].Update(msg)
		b.checkFields(s)
		return b.tryCondition()
	}
	return nil
}

// clearBreaks takes the breakpoints away, if there are any.
func (b *Break) clearBreaks(s Screen) Want {
	for step := range s.Breaks {
		if r := b.steps; r.Has(step) {
			// One that is set is reason enough: the command clears the whole range.
			c := events.Break{Step: r.From, Clear: true}
			if r.To > r.From+1 {
				c.To = r.To
			}
			return Send{c, b.plan}
		}
	}
	return Say{"no breakpoint here"}
}

// Draw shows the fields, and what there is to say of them.
func (b *Break) Draw(s Screen, w, h int) (title string, body [][]draw.Text, foot string) {
	for i, label := range breakLabels {
		mark, look := draw.Inked(themes.Text, "  "), themes.Dim
		if i == b.at {
			mark, look = draw.Inked(themes.Accent, s.Glyphs.Pointer+" "), themes.Text
		}
		line := []draw.Text{mark, draw.Inked(look, label.name+draw.Spaces(max(draw.LabelWidth+1-len(label.name), 1)))}
		switch value := b.fields[i].Value(); {
		case i == b.at:
			// Without the prompt of the line, which the label stands for.
			line = append(line, InputLine(s.Glyphs, &b.fields[i])[1:]...)
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
	body = append(body, nil, []draw.Text{b.stateText(s, w)})
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
func (b *Break) stateText(s Screen, w int) draw.Text {
	t := draw.Inked(themes.Dim, "")
	// There is one line only: what keeps enter from working comes first, how it works without anything typed comes last.
	switch {
	case b.wrong != "":
		t = draw.Inked(themes.Warn, draw.OneLine(b.wrong))
	case b.now.Wrong != "":
		t = draw.Inked(themes.Warn, "at the pointer: "+draw.OneLine(b.now.Wrong))
	case b.now.After != nil:
		t.S = "at the pointer: " + s.WhenKnown(b.now.After)
	case b.now.Text != "":
		t.S = "at the pointer it is " + draw.QuotedLines(b.now.Text)
	case b.set:
		t.S = "hit " + strconv.Itoa(b.hits)
	case b.steps.To > b.steps.From+1:
		t.S = "without any of these it stops before each of these steps"
	default:
		t.S = "without any of these it always stops"
	}
	t.S = draw.CutRight(draw.Plain(t.S), w, s.Glyphs.Dots)
	return t
}
