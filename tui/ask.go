package tui

import (
	"context"
	"errors"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"moon/plan"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/looks"
	"moon/tui/overlay"
	"moon/tui/view"
)

// ErrUnanswered is returned by Ask when the person has left without answering.
var ErrUnanswered = errors.New("the questions were not answered")

// Ask asks what a playbook wants to know before there is a plan, in one form, and returns the answers by their variables. Of the
// options it takes those about looks.
func Ask(ctx context.Context, o Options, list []plan.Prompt) (map[string]string, error) {
	f := newAskProgram(o, os.Getenv, list)
	options := []tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithColorProfile(f.profile)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	p := tea.NewProgram(f, options...)
	// Not by the context of the program: cancelled that way it does not wait for its reader of the keyboard, which would then take
	// keys from what follows.
	undo := context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	undo()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case f.form.Answers() == nil:
		return nil, ErrUnanswered
	}
	return f.form.Answers(), nil
}

// askProgram is a form of questions on an empty screen.
type askProgram struct {
	m       *view.State // pen, glyphs and size; there is no plan in it
	profile colorprofile.Profile
	form    *overlay.Form
}

func newAskProgram(o Options, env func(string) string, list []plan.Prompt) *askProgram {
	l, _ := looks.New(looksOf(&o), env) // what is wrong with the theme is said by the TUI that follows
	return &askProgram{&view.State{Run: &known.Run{}, Pen: l.Pen, Glyphs: l.Glyphs}, l.Profile, overlay.NewForm(list)}
}

// Init asks for nothing.
func (f *askProgram) Init() tea.Cmd { return nil }

// Update takes a key. When the form wants to be closed, all is answered, or the person has left.
func (f *askProgram) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var wants []overlay.Want
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		f.m.Width, f.m.Height = msg.Width, msg.Height
	case tea.PasteMsg:
		wants = f.form.Paste(f.m.Screen(), msg)
	case tea.KeyPressMsg:
		wants = f.form.Press(f.m.Screen(), msg)
	}
	if len(wants) > 0 {
		return f, tea.Quit
	}
	return f, nil
}

// View draws the form in the middle of an empty screen.
func (f *askProgram) View() tea.View { return tea.View{Content: f.drawForm(), AltScreen: true} }

func (f *askProgram) drawForm() string {
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
	c := draw.Canvas{Pen: m.Pen, Glyphs: m.Glyphs}
	frame, _ := overlay.Lay(c, m.Screen(), f.form, strings.TrimSuffix(string(b.Buf), "\n"), m.Width)
	if m.Glyphs.Mask != "" {
		frame = strings.ReplaceAll(frame, "•", m.Glyphs.Mask)
	}
	return frame
}
