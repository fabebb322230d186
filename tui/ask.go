package tui

import (
	"context"
	"errors"
	"os"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/view"
)

// ErrUnanswered is returned by Ask when the person has left without answering.
var ErrUnanswered = errors.New("the questions were not answered")

// Ask asks what a playbook wants to know before there is a plan, in one form, and returns the answers by their variables. Of the
// options it takes those about looks.
func Ask(ctx context.Context, o Options, list []plan.Prompt) (map[string]string, error) {
	f := newAskForm(o, os.Getenv, list)
	options := []tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithColorProfile(f.m.profile)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	p := tea.NewProgram(f, options...)
	undo := context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	undo()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case !f.done:
		return nil, ErrUnanswered
	}
	return f.collectAnswers(), nil
}

// askForm is a form of questions, one line for each, and a second for one that is to be typed twice.
type askForm struct {
	m      *model // its pen and its glyphs; there is no plan in it
	fields []askField
	at     int
	top    int
	note   string
	done   bool
}

type askField struct {
	plan.Prompt
	again bool // the second time
	input textinput.Model
}

func newAskForm(o Options, env func(string) string, list []plan.Prompt) *askForm {
	m := &model{State: &view.State{Run: &known.Run{}}, o: o, env: env, profile: chooseProfile(o, env)}
	m.loadThemes()
	f := &askForm{m: m}
	for _, p := range list {
		f.addField(p, false)
		if p.Confirm {
			f.addField(p, true)
		}
	}
	return f
}

func (f *askForm) addField(p plan.Prompt, again bool) {
	in := view.NewInput()
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

func (f *askForm) collectAnswers() map[string]string {
	answers := map[string]string{}
	for i := range f.fields {
		answers[f.fields[i].Name] = f.fields[i].finalValue()
	}
	return answers
}

// Init asks for nothing.
func (f *askForm) Init() tea.Cmd { return nil }

// Update takes a key. Enter goes on to the next line, and on the last one it is done.
func (f *askForm) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		f.m.Width, f.m.Height = msg.Width, msg.Height
	case tea.PasteMsg:
		f.fields[f.at].input, _ = f.fields[f.at].input.Update(msg)
	case tea.KeyPressMsg:
		return f, f.typeKey(msg)
	}
	return f, nil
}

func (f *askForm) typeKey(msg tea.KeyPressMsg) tea.Cmd {
	f.note = ""
	switch msg.String() {
	case "esc", "ctrl+c":
		return tea.Quit
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
func (f *askForm) nextField() tea.Cmd {
	if f.at+1 < len(f.fields) {
		if f.answersDiffer(f.at) {
			f.markMistyped(f.at)
			return nil
		}
		f.at++
		return nil
	}
	for i := range f.fields {
		if f.answersDiffer(i) {
			f.markMistyped(i)
			return nil
		}
	}
	f.done = true
	return tea.Quit
}

func (f *askForm) answersDiffer(i int) bool {
	return f.fields[i].again && f.fields[i].finalValue() != f.fields[i-1].finalValue()
}

func (f *askForm) markMistyped(i int) {
	f.note = "that is not what was typed before; type both again"
	f.fields[i].input.SetValue("")
	f.fields[i-1].input.SetValue("")
	f.at = i - 1
}

// View draws the form in the middle of an empty screen.
func (f *askForm) View() tea.View { return tea.View{Content: f.drawForm(), AltScreen: true} }

func (f *askForm) drawForm() string {
	m := f.m
	if m.Width <= 0 || m.Height <= 0 {
		return ""
	}
	b := &draw.Brush{Pen: m.Pen}
	for range m.Height {
		b.Begin(m.Width, draw.OnRow)
		b.End()
		b.Newline()
	}
	m.Overlay = askBox{f}
	frame := frame{m.State}.drawOverlay(strings.TrimSuffix(string(b.Buf), "\n"))
	if m.Glyphs.Mask != "" {
		frame = strings.ReplaceAll(frame, "•", m.Glyphs.Mask)
	}
	return frame
}

// drawLines draws two lines for each field: the question, and what is typed.
func (f *askForm) DrawLines(m *view.State, w, high int) (title string, body [][]draw.Text, foot string) {
	note := 0
	if f.note != "" {
		note = 1
	}
	shown := max((high-note)/2, 1)
	f.top = windowStart(f.top, f.at, shown, len(f.fields))
	for i := f.top; i < min(f.top+shown, len(f.fields)); i++ {
		a := &f.fields[i]
		question := []draw.Text{draw.Inked(themes.Text, draw.CutRight(draw.Plain(a.questionText()), w, m.Glyphs.Dots))}
		if i == f.at {
			question[0].Ink = draw.InkTitle
		}
		if a.Default != "" && !a.Private {
			question = append(question, draw.Inked(themes.Dim, "  default "+draw.Plain(a.Default)))
		} else if a.Default != "" {
			question = append(question, draw.Inked(themes.Dim, "  has a default"))
		}
		body = append(body, question, f.typedLine(i, w))
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
func (f *askForm) typedLine(i, w int) []draw.Text {
	in := f.fields[i].input
	if f.fields[i].Private {
		in.SetValue(strings.Repeat("•", len([]rune(in.Value()))))
		in.CursorEnd()
	}
	if i != f.at {
		return []draw.Text{draw.Inked(themes.Dim, "  "+draw.Head(draw.Plain(in.Value()), max(w-2, 0)))}
	}
	line := f.m.InputLine(&in)
	if over := draw.WidthOf(line) - w; over > 0 { // the end is where it is typed
		line[1].S = draw.Tail(line[1].S, max(draw.Cells(line[1].S)-over, 0))
	}
	return line
}

// askBox draws the form as what lies over the panes is drawn.
type askBox struct{ *askForm }

func (a askBox) PressKey(_ *view.State, msg tea.KeyPressMsg) tea.Cmd { return a.typeKey(msg) }

func (a askBox) PasteText(_ *view.State, msg tea.PasteMsg) tea.Cmd {
	_, cmd := a.Update(msg)
	return cmd
}
