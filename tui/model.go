package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/frame"
	"moon/tui/keymap"
	"moon/tui/known"
	"moon/tui/looks"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/terminal"
	"moon/tui/tree"
	"moon/tui/view"
)

// model is the one Bubble Tea model: it owns the parts, passes keys to them as intents, and asks them to be drawn.
// All of it lives in the program's own goroutine but store and predictions, which have locks.
type model struct {
	*view.State

	o     Options
	looks *looks.Looks
	later func() tea.Cmd // gives a tickMsg after a while

	kept  tree.Filter // to be restored
	typed typeahead

	opened  bool        // its size has been known
	leaving bool        // asked to
	forced  bool        // left without waiting
	again   *AgainError // another run was asked for; nil: none was

	concluded bool // the feed broke off, and what ran then counts as lost
	ticking   bool
	seen      int // pauses
	clip      clipboard

	frame  string
	stale  bool
	closed bool // the screen is about to go
	nap    terminal.Nap
	crash  error // a panic on the way; ends the screen
}

// The messages of the model itself. A frameMsg says that the store has news, a tickMsg that a quarter of a second
// has gone by while something runs.
type (
	frameMsg struct{}
	tickMsg  struct{}
)

func newModel(o Options, env func(string) string) *model {
	m := &model{
		State: &view.State{
			Run: known.New(known.Options{
				Plan: o.Plan, Others: o.Others, Recorded: o.Replay != "", Forecast: o.Forecast, Now: o.Now,
				Engine: known.Engine{Send: o.Send, Why: o.Why, Bind: o.Bind, Predict: o.Predict, PredictAll: o.PredictAll},
			}),
			Tools: toolsOf(&o), Keys: o.Keys, Following: true, Panes: view.NewPanes(), Detail: view.NewDetail(), Cur: tree.NewCursor(),
		},
		o: o, stale: true, later: nextTick,
	}
	if m.Keys == nil {
		m.Keys = keymap.UsualKeys()
	}
	m.looks, m.Message = looks.New(looksOf(&o), env)
	m.dress()
	if len(o.Warnings) > 0 {
		m.ShowMessage(strings.Join(o.Warnings, "; "))
	}
	m.Peek.Id = view.PeekReel
	m.Mouse.On = o.Mouse
	m.clip = newClipboard(o.Clipboard, env)
	m.Rows, m.Excerpt = tree.NewCollapse(m.Tree), o.Plan.Excerpt
	m.RebuildRows()
	// After the rows exist, because folds are restored to them; the filter comes later, when the steps have states.
	if o.View != nil {
		m.kept = restoreView(m.State, o.View)
	}
	if o.Notice != "" {
		m.ShowMessage(o.Notice)
	}
	return m
}

func looksOf(o *Options) looks.Options {
	return looks.Options{
		Theme: o.Theme, LightTheme: o.LightTheme, ThemeDir: o.ThemeDir, Glyphs: o.Glyphs, WithoutColours: o.NoColor,
		Profile: o.Profile, Output: o.Output,
	}
}

// dress takes over the looks as they are by now.
func (m *model) dress() { m.Pen, m.Glyphs = m.looks.Pen, m.looks.Glyphs }

func toolsOf(o *Options) view.Tools {
	return view.Tools{
		Mode: o.Mode, Banner: o.Banner, Saved: o.Saved, Replay: o.Replay, Again: o.Again, Attached: o.Attached,
		PlanFor: o.PlanFor, Reload: o.Reload, Await: o.Await, Examine: o.Examine, Preview: o.Preview, Eval: o.Eval, CheckBreak: o.CheckBreak, ParseBreak: o.ParseBreak,
		Editor: o.Editor, Shell: o.Shell, OutDir: o.OutDir, Notify: notifying(o),
	}
}

// notifying is how a person is notified who is looking elsewhere; nil if that is not wanted.
func notifying(o *Options) func(text string) tea.Cmd {
	switch notify := o.Notify; {
	case notify != nil:
		return func(text string) tea.Cmd {
			return func() tea.Msg {
				notify(text)
				return nil
			}
		}
	case o.Notices:
		return func(text string) tea.Cmd { return tea.Raw(ansi.Notify(text)) }
	}
	return nil
}

// Init asks for nothing but the background of the terminal, where the theme depends on it.
func (m *model) Init() tea.Cmd {
	if m.o.Watching {
		m.Files.On = true // in silence: there is something to say of what has changed
		return tea.Batch(m.looks.Watch(), filing{m.State}.awaitFiles(false))
	}
	return m.looks.Watch()
}

// Update takes one message. What is drawn may have changed after each but those that say so.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			m.crash = terminal.PanicError(r)
			next, cmd = m, tea.Quit
		}
	}()
	if m.crash != nil {
		return m, tea.Quit
	}
	// A frame too many costs little; one too few shows what is not so any more.
	was := m.stale
	m.stale = true
	switch msg := msg.(type) {
	case frameMsg:
		cmd = tea.Batch(m.syncStore(), m.catchUp(), filing{m.State}.planDue())
	case tickMsg:
		cmd = m.handleTick()
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseMsg:
		cmd = m.takeInput(msg)
	case tea.WindowSizeMsg:
		m.Width, m.Height = msg.Width, msg.Height
		m.openScreen()
	case tea.FocusMsg:
		m.Unfocused = false
		cmd = m.looks.AskBackground()
	case tea.BlurMsg:
		m.Unfocused = true
	case tea.BackgroundColorMsg:
		m.looks.SetBackground(msg)
		m.dress()
	case feed.Fetched:
		m.OutputReel(msg.Id).Take(msg)
	case known.Answer:
		if news := m.Take(msg); news != "" {
			m.ShowMessage(news)
		}
	case pane.Found:
		pane.OutputPane{State: m.State}.FoundMore(msg)
	case view.Copied:
		cmd = m.clip.copyText(m.State, msg)
	case clipped:
		cmd = m.clip.clipText(m.State, msg)
	case terminal.Aside:
		cmd = m.looks.Unwatched(terminal.MakeRoom(msg.Do))
	case terminal.Continued:
		cmd = m.nap.WakeUp()
	case terminal.Broke:
		m.crash = msg.Err
		return m, tea.Quit
	case terminal.Returned:
		if msg.Err != nil {
			m.ShowMessage("the terminal: " + msg.Err.Error())
		}
	case edited:
		cmd = fixPane{m.State}.takeEdited(msg)
	case sheetNews:
		if m.Sheet == msg.sheet {
			cmd = m.doWants(msg.take())
		}
	case shellFound:
		cmd = m.shellFound(msg)
	case shellLeft:
		deciding{m.State}.shellLeft(msg)
	case reloaded:
		replanning{m.State}.takeReloaded(msg)
		cmd = filing{m.State}.awaitFiles(msg.diagnostics.HasErrors())
	case filesChanged, filesExamined:
		if cmd, m.again = (filing{m.State}).takeNews(msg); m.again != nil {
			return m, tea.Quit
		}
	case view.Came:
		cmd = msg.Then(m.State)
	case *looks.Found:
		cmd = m.changeTheme(msg)
	default:
		// Bubble Tea has messages of its own, which change nothing that is drawn.
		m.stale = was
		if looks.SchemeChanged(msg) {
			cmd = m.looks.AskBackground()
		}
	}
	return m, terminal.GuardCommand(tea.Batch(cmd, pane.OutputPane{State: m.State}.FetchOutput(),
		m.AskWaits(pane.WaitWords{State: m.State}.StepsToAsk),
		pane.WatchPane{State: m.State}.AskWatches(),
		m.AskBound(func() []int { return append(m.ShownSteps(), m.Tree.Step(m.CursorNode())) }), m.AskLacking()))
}

// View draws, if there is anything new to draw.
func (m *model) View() tea.View {
	defer func() {
		if r := recover(); r != nil {
			m.crash = terminal.PanicError(r)
			m.Store.Wake() // drawing cannot quit; the next message does
		}
	}()
	if m.stale {
		m.frame, m.stale = m.drawScreen(), false
		if m.Glyphs.Mask != "" {
			m.frame = strings.ReplaceAll(m.frame, "•", m.Glyphs.Mask) // what stands for secrets
		}
	}
	return tea.View{Content: m.frame, AltScreen: true, ReportFocus: true, MouseMode: pointing{m.State}.mouseMode()}
}

// drawScreen writes the whole screen: exactly height rows of width cells.
func (m *model) drawScreen() string {
	if m.Width <= 0 || m.Height <= 0 {
		return ""
	}
	if m.closed {
		return strings.Repeat("\n", m.Height-1)
	}
	// A frame is about as long as the one before, so the buffer rarely grows.
	b := &draw.Brush{Pen: m.Pen, Buf: make([]byte, 0, 2*len(m.frame)+m.Width*m.Height)}
	m.Mouse.ForgetSpots()
	if m.Mouse.On {
		b.Spots = &m.Mouse.Spots
	}
	frame.Draw(m.State, b)
	drawn := strings.TrimSuffix(string(b.Buf), "\n")
	if m.Overlay != nil {
		c := draw.Canvas{Pen: m.Pen, Glyphs: m.Glyphs}
		drawn, m.Mouse.Box = overlay.Lay(c, m.Screen(), m.Overlay, drawn, m.Width)
	}
	return drawn
}

// handleTick runs only while something does: it moves clocks and looks for new output.
func (m *model) handleTick() tea.Cmd {
	m.ticking = false
	m.Spin++
	// Output is not in the feed: nothing says that a file has grown, so it is looked at with each tick.
	m.Detail.Reel.Stale, m.Peek.Stale = true, true
	m.Tick()
	return m.keepTicking()
}

const tickTime = 250 * time.Millisecond

func (m *model) keepTicking() tea.Cmd {
	if m.ticking || !m.IsMoving() {
		return nil
	}
	m.ticking = true
	return m.later()
}

func nextTick() tea.Cmd { return tea.Tick(tickTime, func(time.Time) tea.Msg { return tickMsg{} }) }
