package tui

import (
	"crypto/rand"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"moon/plan"
	"moon/themes"
	"moon/tui/debugger"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/tree"
)

// model is the one Bubble Tea model: it owns the parts, passes keys to them as intents, and asks them to be drawn.
// All of it lives in the program's own goroutine but store and what is foretold, which have locks.
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

// knownRun is the run as far as the screen knows it, and what follows from that: what runs next, what waits for what, what would
// be skipped, how often a breakpoint has stopped. It sends commands. It knows no cursor and no screen.
type knownRun struct {
	o         Options
	store     *feed.Store
	now       func() time.Time
	plan      *plan.Plan
	real      int // steps of it that a dry run executes
	tree      *tree.Tree
	run       feed.Shot    // as of the last frame
	breaks    map[int]stop // by step
	places    []breakPlace // the same, as they were set; nil: to be found
	bound     boundSteps
	stopping  int // how often a stop was asked for
	failing   int // the step that counts as failed while the run is paused on it, or -1
	predicted debugger.Predictions
	countdown feed.Countdown
	timeline  feed.Timeline
	waiting   waiting
	lacking   lacking
	others    status.OtherFiles
	prefix    string // of the IDs of this screen's commands: a journal may hold those of others
	sent      int    // commands
}

// position is where the run stands.
func (m *knownRun) position() debugger.Position {
	return debugger.Position{
		Plan: m.plan, Steps: debugger.States(m.tree.Faces),
		Phase: m.run.Phase, Pause: m.run.Pause.Reason, PausedAt: m.run.PausedAt, Pointer: m.run.Pointer,
	}
}

// view is what a part of the screen is given: the run, where the cursor stands, how the screen is divided, how big it is and how
// it looks. Panes, rules and overlays are types of their own around it, and reach no more than this.
type view struct {
	*knownRun

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
			knownRun: &knownRun{
				o: o, store: feed.NewStore(), now: o.Now, breaks: map[int]stop{}, failing: -1,
				prefix: "tui-" + rand.Text()[:8],
			},
			keys: o.Keys, following: true, panes: newPanes(), detail: newDetail(), cur: tree.NewCursor(),
		},
		profile: chooseProfile(o, env), env: env, stale: true, later: nextTick,
	}
	m.run.Awaits = m.store.Awaits() // the first frame is drawn, and keys come, before the first look at the run
	if m.now == nil {
		m.now = time.Now
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
	replanning{m.view}.setPlan(o.Plan)
	m.others = status.OtherFilesOf(o.Earlier, o.Plan)
	if o.View != nil {
		m.restoreView(o.View)
	}
	if o.Notice != "" {
		m.showMessage(o.Notice)
	}
	return m
}

func (m replanning) setPlan(p *plan.Plan) {
	t := tree.Grow(p)
	sheet := m.fix
	m.fix, m.fixSent = nil, nil // they are about another plan
	if m.tree == nil {
		m.rows = tree.NewCollapse(t)
	} else {
		m.cur.Carry(m.tree, t)
		if m.prompt != nil { // it is where its esc goes back to
			m.prompt.from, _ = tree.SameIn(m.tree, t)(m.prompt.from)
		}
		m.rows.Adopt(t)
	}
	m.plan, m.tree, m.excerpt, m.real = p, t, p.Excerpt, p.DefyDryRun()
	m.countdown = feed.Countdown{}
	if m.o.Forecast != nil {
		m.countdown = feed.NewCountdown(m.o.Forecast(p.Digest))
	}
	m.timeline, m.waiting = feed.NewTimeline(t, &m.timeline), waiting{}
	m.lacking = lacking{stale: true}
	m.predicted.Halt() // it was about another plan
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
	case waited:
		m.waiting.takeAnswer(msg, m.plan.Digest)
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
	return m, guardCommand(tea.Batch(cmd, outputPane{m.view}.fetchOutput(), waitWords{m.view}.askWaits(), watchPane{m.view}.askWatches(),
		predicting{m.view}.askBound(), predicting{m.view}.askLacking()))
}

// View draws, if there is anything new to draw.
func (m *model) View() tea.View {
	defer func() {
		if r := recover(); r != nil {
			m.crash = panicError(r)
			m.store.Wake() // drawing cannot quit; the next message does
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
	m.countdown.Refresh(m.clockNow())
	m.timeline.Advance(m.clockNow())
	m.waiting.stale = true
	return m.keepTicking()
}

const tickTime = 250 * time.Millisecond

func (m *model) keepTicking() tea.Cmd {
	if m.ticking || !m.isMoving() {
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
