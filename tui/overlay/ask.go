package overlay

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
)

// Form is a form of questions, one line for each, and a second for one that is to be typed twice.
type Form struct {
	fields []askField
	at     int
	top    int
	note   string
	done   bool // all is answered
}

type askField struct {
	plan.Prompt
	again bool // the second time
	input textinput.Model
}

// NewForm asks some questions.
func NewForm(list []plan.Prompt) *Form {
	f := &Form{}
	for _, p := range list {
		f.addField(p, false)
		// The second field must follow the first: what compares the two looks one back.
		if p.Confirm {
			f.addField(p, true)
		}
	}
	return f
}

func (f *Form) addField(p plan.Prompt, again bool) {
	in := NewInput()
	if p.Private {
		in.EchoMode = textinput.EchoPassword
	}
	f.fields = append(f.fields, askField{p, again, in})
}

// finalValue is what a field comes to: an empty one is the default, also where it is to be typed twice.
func (a *askField) finalValue() string {
	if a.input.Value() == "" {
		return a.Default
	}
	return a.input.Value()
}

// Answers are the answers by their variables; nil: the form was left before all was answered.
func (f *Form) Answers() map[string]string {
	if !f.done {
		return nil
	}
	answers := map[string]string{}
	for i := range f.fields {
		// A field for the second time has the same name and, as the form is done, the same value.
		answers[f.fields[i].Name] = f.fields[i].finalValue()
	}
	return answers
}

// Paste types into the field.
func (f *Form) Paste(_ Screen, msg tea.PasteMsg) []Want {
	f.fields[f.at].input, _ = f.fields[f.at].input.Update(msg)
	return nil
}

// Press takes a key. Enter goes on to the next line, and on the last one the form is done.
func (f *Form) Press(_ Screen, msg tea.KeyPressMsg) []Want {
	f.note = ""
	switch msg.String() {
	case "esc", "ctrl+c":
		// In raw mode ctrl+c is a key like others: the terminal sends no signal for it.
		return []Want{Close{}}
	case "down", "tab", "ctrl+n":
		f.at = min(f.at+1, len(f.fields)-1)
	case "up", "shift+tab", "ctrl+p":
		f.at = max(f.at-1, 0)
	case "enter":
		return f.nextField()
	default:
		f.fields[f.at].input, _ = f.fields[f.at].input.Update(msg)
	}
	return nil
}

// nextField goes on, if what was typed the second time is the same.
func (f *Form) nextField() []Want {
	if f.at+1 < len(f.fields) {
		if f.answersDiffer(f.at) {
			f.markMistyped(f.at)
			return nil
		}
		f.at++
		return nil
	}
	// The arrows pass over fields without comparing, so all of them are compared before the form is done.
	for i := range f.fields {
		if f.answersDiffer(i) {
			f.markMistyped(i)
			return nil
		}
	}
	f.done = true
	return []Want{Close{}}
}

func (f *Form) answersDiffer(i int) bool {
	return f.fields[i].again && f.fields[i].finalValue() != f.fields[i-1].finalValue()
}

func (f *Form) markMistyped(i int) {
	f.note = "that is not what was typed before; type both again"
	// Both go: of two hidden texts that differ it cannot be said which has the mistake.
	f.fields[i].input.SetValue("")
	f.fields[i-1].input.SetValue("")
	f.at = i - 1
}

// Draw draws two lines for each field: the question, and what is typed.
func (f *Form) Draw(s Screen, w, high int) (title string, body [][]draw.Text, foot string) {
	note := 0
	if f.note != "" {
		note = 1
	}
	shown := max((high-note)/2, 1)
	f.top = draw.WindowStart(f.top, f.at, shown, len(f.fields))
	for i := f.top; i < min(f.top+shown, len(f.fields)); i++ {
		a := &f.fields[i]
		question := []draw.Text{draw.Inked(themes.Text, draw.CutRight(draw.Plain(a.questionText()), w, s.Glyphs.Dots))}
		if i == f.at {
			question[0].Ink = draw.InkTitle
		}
		if a.Default != "" && !a.Private {
			question = append(question, draw.Inked(themes.Dim, "  default "+draw.Plain(a.Default)))
		} else if a.Default != "" {
			// The default of what is private is private too.
			question = append(question, draw.Inked(themes.Dim, "  has a default"))
		}
		body = append(body, question, f.typedLine(s.Glyphs, i, w))
	}
	if note > 0 {
		body = append(body, []draw.Text{draw.Inked(themes.Warn, f.note)})
	}
	foot = "enter: continue   tab: next   esc: cancel, nothing is run"
	if w < draw.Cells(foot) {
		foot = "enter: continue   tab: next   esc: cancel"
	}
	return "Input required", body, foot
}

func (a *askField) questionText() string {
	if a.again {
		return a.Question() + " (again)"
	}
	return a.Question()
}

// typedLine is what stands in a field, with the caret in the one that has the keys.
func (f *Form) typedLine(g *draw.Glyphs, i, w int) []draw.Text {
	in := f.fields[i].input
	if f.fields[i].Private {
		// This is a copy of the field. EchoMode is the widget's own way of drawing, which InputLine does not use.
		in.SetValue(strings.Repeat("•", len([]rune(in.Value()))))
		in.CursorEnd()
	}
	if i != f.at {
		return []draw.Text{draw.Inked(themes.Dim, "  "+draw.Head(draw.Plain(in.Value()), max(w-2, 0)))}
	}
	line := InputLine(g, &in)
	if over := draw.WidthOf(line) - w; over > 0 { // the end is where it is typed
		line[1].S = draw.Tail(line[1].S, max(draw.Cells(line[1].S)-over, 0))
	}
	return line
}
