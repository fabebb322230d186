package tui

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/keymap"
	"moon/tui/known"
	"moon/tui/tree"
)

// model is the one Bubble Tea model: it owns the parts, passes keys to them as intents, and asks them to be drawn.
// All of it lives in the program's own goroutine but store and predictions, which have locks.
type model struct {
	*view

	profile colorprofile.Profile
	env     func(string) string
	skins   [2]*themes.Theme // for a dark and for a light background
	light   bool             // the terminal has said that its background is
	later   func() tea.Cmd   // gives a tickMsg after a while

	wanted tree.Filter // to be restored
	typed  typeahead

	opened   bool // its size has been known
	leaving  bool // asked to
	forced   bool // left without waiting
	again    bool // another run was asked for
	watching bool // the terminal was asked to tell when light and dark change
	ticking  bool
	seen     int // pauses
	clip     clipboard

	frame  string
	stale  bool
	closed bool  // the screen is about to go
	napped bool  // moon was stopped, and the terminal taken anew since
	crash  error // a panic on the way; ends the screen
}

// view is what a part of the screen is given: the run, where the cursor stands, how the screen is divided, how big it is and how
// it looks. Panes, rules and overlays are types of their own around it, and reach no more than this.
type view struct {
	*known.Run

	o             Options
	pen           *draw.Pen
	glyphs        *draw.Glyphs
	keys          *keymap.Keys
	excerpt       func(file string, line, around int) ([]string, int)
	rows          *tree.Collapse
	cur           tree.Cursor
	watch         watchList
	filter        tree.Filter
	find          tree.Finder
	panes         panes
	detail        detail
	peek          feed.Reel // the last lines of what runs, where there is no room for two panes
	matrix        *matrix   // the hosts by their tasks; it stands in the place of both panes
	fix           *fixSheet // values that are edited; it stands in the place of the detail
	fixSent       *fixSheet // what was asked for last, until the run has taken it
	message       string
	following     bool // the cursor stays on the pointer
	tabChosen     bool // by a person
	spin          int
	diffs         diffLines
	summary       summary
	recent        []keymap.Intent // done from the palette, the latest first
	shown         []int32         // nodes on the screen, as last drawn
	stopping      int             // how often a stop was asked for
	overlay       overlay
	prompt        *prompt
	sequence      string // keys that wait for the rest of a sequence
	mouse         mouse
	unfocused     bool // the terminal is
	width, height int
}

// The messages of the model itself. A frameMsg says that the store has news, a tickMsg that a quarter of a second
// has gone by while something runs.
type (
	frameMsg struct{}
	tickMsg  struct{}
)

func newModel(o Options, env func(string) string) *model {
	m := &model{
		view: &view{
			Run: known.New(known.Options{
				Plan: o.Plan, Earlier: o.Earlier, Recorded: o.Replay != "", Forecast: o.Forecast, Now: o.Now,
				Engine: known.Engine{Send: o.Send, Why: o.Why, Bind: o.Bind, Predict: o.Predict, PredictAll: o.Foretell},
			}),
			o: o, keys: o.Keys, following: true, panes: newPanes(), detail: newDetail(), cur: tree.NewCursor(),
		},
		profile: chooseProfile(o, env), env: env, stale: true, later: nextTick,
	}
	if m.keys == nil {
		m.keys = keymap.UsualKeys()
	}
	m.loadThemes()
	if len(o.Warnings) > 0 {
		m.showMessage(strings.Join(o.Warnings, "; "))
	}
	m.peek.Id = peekReel
	m.mouse.on = o.Mouse
	m.clip = newClipboard(o, env)
	m.rows, m.excerpt = tree.NewCollapse(m.Tree), o.Plan.Excerpt
	m.rebuildRows()
	if o.View != nil {
		m.restoreView(o.View)
	}
	if o.Notice != "" {
		m.showMessage(o.Notice)
	}
	return m
}

// changePlan takes another plan, and keeps what fits it of what was folded, marked and typed.
func (m replanning) changePlan(p *plan.Plan) {
	before, sheet := m.Tree, m.fix
	m.SetPlan(p)
	m.shown = nil
	m.fix, m.fixSent = nil, nil // they are about another plan
	m.cur.Carry(before, m.Tree)
	if m.prompt != nil { // it is where its esc goes back to
		m.prompt.from, _ = tree.SameIn(before, m.Tree)(m.prompt.from)
	}
	m.rows.Adopt(m.Tree)
	m.excerpt = p.Excerpt
	m.rebuildRows()
	fixPane(m).carryFix(sheet)
}

// Init asks for nothing but the background of the terminal, where the theme depends on it.
func (m *model) Init() tea.Cmd { return m.watchBackground() }

// Update takes one message. What is drawn may have changed after each but those that say so.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			m.crash = panicError(r)
			next, cmd = m, tea.Quit
		}
	}()
	if m.crash != nil {
		return m, tea.Quit
	}
	was := m.stale
	m.stale = true
	switch msg := msg.(type) {
	case frameMsg:
		cmd = tea.Batch(m.syncStore(), m.catchUp())
	case tickMsg:
		cmd = m.handleTick()
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseMsg:
		cmd = m.takeInput(msg)
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.openScreen()
	case tea.FocusMsg:
		m.unfocused = false
		cmd = m.askBackground()
	case tea.BlurMsg:
		m.unfocused = true
	case tea.BackgroundColorMsg:
		m.setBackground(msg)
	case feed.Fetched:
		m.outputReel(msg.Id).Take(msg)
	case known.Answer:
		if news := m.Take(msg); news != "" {
			m.showMessage(news)
		}
	case found:
		outputPane{m.view}.foundMore(msg)
	case copied:
		cmd = m.copyText(msg)
	case clipped:
		cmd = m.clipText(msg)
	case asideMsg:
		cmd = m.lendUnwatched(makeRoom(msg.do))
	case continuedMsg:
		cmd = m.wakeUp()
	case broke:
		m.crash = msg.err
		return m, tea.Quit
	case returned:
		if msg.err != nil {
			m.showMessage("the terminal: " + msg.err.Error())
		}
	case edited:
		cmd = fixPane{m.view}.takeEdited(msg)
	case replanned:
		cmd = m.fixPreviewed(msg)
	case valueEdited:
		cmd = m.valueEdited(msg)
	case shellFound:
		cmd = m.shellFound(msg)
	case shellLeft:
		deciding{m.view}.shellLeft(msg)
	case reloaded:
		replanning{m.view}.takeReloaded(msg)
	case came:
		cmd = msg.then(m)
	default:
		// Bubble Tea has messages of its own, which change nothing that is drawn.
		m.stale = was
		if schemeChanged(msg) {
			cmd = m.askBackground()
		}
	}
	return m, guardCommand(tea.Batch(cmd, outputPane{m.view}.fetchOutput(), m.AskWaits(waitWords{m.view}.stepsToAsk), watchPane{m.view}.askWatches(),
		m.AskBound(func() []int { return append(m.shownSteps(), m.Tree.Step(m.cursorNode())) }), m.AskLacking()))
}

// View draws, if there is anything new to draw.
func (m *model) View() tea.View {
	defer func() {
		if r := recover(); r != nil {
			m.crash = panicError(r)
			m.Store.Wake() // drawing cannot quit; the next message does
		}
	}()
	if m.stale {
		m.frame, m.stale = m.drawScreen(), false
		if m.glyphs.Mask != "" {
			m.frame = strings.ReplaceAll(m.frame, "•", m.glyphs.Mask) // what stands for secrets
		}
	}
	return tea.View{Content: m.frame, AltScreen: true, ReportFocus: true, MouseMode: pointing{m.view}.mouseMode()}
}

// panicError makes an error of a panic. Bubble Tea would catch it too, but then it does not wait for its reader of the
// keyboard before it closes what that one reads from.
func panicError(r any) error {
	return fmt.Errorf("internal error in the TUI:  %v\n%s", r, debug.Stack())
}

// pressKey takes a key: to what is open above the panes, or as an intent.
func (m *model) pressKey(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	m.message = ""
	m.cur.Free = false
	switch {
	case key == "ctrl+c": // an interrupt is never text
		return m.doIntent(keymap.RunInterrupt)
	case m.overlay != nil:
		return m.overlay.pressKey(m, msg)
	case m.prompt != nil:
		return m.prompt.pressKey(m, msg)
	case m.fix != nil:
		return m.fix.pressKey(m, msg)
	}
	return m.takeSequence(key)
}

func (m *model) pasteText(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.overlay != nil:
		return m.overlay.pasteText(m, msg)
	case m.prompt != nil:
		return m.prompt.pasteText(m, msg)
	case m.fix != nil:
		return m.fix.pasteText(m, msg)
	}
	return nil
}

// isTyping reports whether the person is in the middle of something that must not be pulled away.
func (m *view) isTyping() bool { return m.prompt != nil || m.overlay != nil || m.fix != nil }

// showMessage shows a message until the next key.
func (m *view) showMessage(text string) { m.message = draw.Plain(text) }

// cursorNode is the node the cursor stands on.
func (m *view) cursorNode() int { return m.cur.On(m.rows) }

// keyPlace is where keys go.
func (m *view) keyPlace() keymap.Place {
	switch {
	case m.focusedPane() == paneTree:
		return keymap.InTree
	case m.detail.tab == tabOutputs:
		return keymap.InOutput
	}
	return keymap.InDetail
}

// handleTick runs only while something does: it moves clocks and looks for new output.
func (m *model) handleTick() tea.Cmd {
	m.ticking = false
	m.spin++
	m.detail.reel.Stale, m.peek.Stale = true, true
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

const (
	detailReel = iota
	peekReel
)

func (m *view) outputReel(id int) *feed.Reel {
	if id == peekReel {
		return &m.peek
	}
	return &m.detail.reel
}
