package tui

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/diag"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/tuitest"
	"moon/tui/view"
)

// rowsShown are the titles of the visible rows.
func (s *screen) rowsShown() string {
	var titles []string
	for _, n := range s.m.Rows.Rows {
		titles = append(titles, s.m.Tree.Title(int(n)))
	}
	return strings.Join(titles, "\n")
}

func TestFolding(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	all := len(s.m.Rows.Rows)
	s.press("-")
	if got := s.rowsShown(); got != "devbox.yml\nsay hello\ninclude: packages.yml\nblock: dotfiles\nreplace /etc/hosts\ninclude: docker.yml\nvacuum the journal\ncheck the shell" {
		t.Errorf("folded:\n%s", got)
	}
	s.keys("j j l l")
	if got := s.m.Tree.Title(s.m.CursorNode()); got != "update the package index" {
		t.Errorf("l l went to %q", got)
	}
	s.keys("h")
	if got := s.m.Tree.Title(s.m.CursorNode()); got != "include: packages.yml" {
		t.Errorf("h went to %q", got)
	}
	s.keys("h")
	if !s.m.Rows.Folded[s.m.CursorNode()] {
		t.Error("h did not fold")
	}
	s.keys("enter")
	if s.m.Rows.Folded[s.m.CursorNode()] {
		t.Error("enter did not open")
	}
	s.keys("=")
	if len(s.m.Rows.Rows) != all {
		t.Error("= did not open all")
	}
	s.on("install git")
	s.keys("enter")
	if s.m.FocusedPane() != view.PaneDetail {
		t.Error("enter on a step does not go to the detail")
	}
	s.keys("esc")
	if s.m.FocusedPane() != view.PaneTree {
		t.Error("esc does not come back")
	}
	if len(s.f.Sent) > 0 {
		t.Errorf("moving sent %v", s.f.Sent)
	}
}

// What is large is folded at the start, but what asks stays in sight.
func TestLargePlansStartFolded(t *testing.T) {
	p := large(1000)
	p.Steps[345].Confirm = "sure?"
	s := newScreen(t, setup{p: p, w: 120, h: 40})
	if n := len(s.m.Rows.Rows); n != 1+10+100 {
		t.Errorf("%d rows", n)
	}
	s.press("]")
	if s.m.Tree.Step(s.m.CursorNode()) != 345 {
		t.Error("] did not go to what asks")
	}
}

func TestTree(t *testing.T) {
	p := devbox()
	grown := tree.Grow(p)
	if grown.Len() != len(p.Steps)+len(p.Scopes) || int(grown.Size[0]) != grown.Len() {
		t.Fatalf("%d nodes for %d steps and %d scopes", grown.Len(), len(p.Steps), len(p.Scopes))
	}
	for i := range p.Steps {
		if grown.Step(int(grown.StepNode[i])) != i {
			t.Errorf("step %d is not at its node", i)
		}
	}
	// An empty scope stands before the step it would begin with.
	docker := int(grown.ScopeNode[len(p.Scopes)-1])
	if grown.Step(docker+1) != stepVacuum || grown.Size[docker] != 1 {
		t.Errorf("the skipped include is at %d", docker)
	}
	var sum status.Tally
	grown.Recount(func(i int) (status.State, int64, int64) { return status.State(i % status.States), 0, 0 })
	for _, f := range grown.Faces {
		sum[f]++
	}
	if grown.Tallies[0] != sum {
		t.Errorf("counts %v, want %v", grown.Tallies[0], sum)
	}
	grown.Set(3, status.Failed)
	loop := grown.Tally(int(grown.Parent[grown.StepNode[3]]))
	if loop[status.Failed] != 1 {
		t.Errorf("the loop counts %v", loop)
	}
	// A plan that contradicts itself loses no step.
	broken := &plan.Plan{Steps: make([]plan.Step, 5), Scopes: []plan.Scope{
		{Parent: -1, Last: 5}, {ID: 1, First: 3, Last: 9}, {ID: 2, First: 1, Last: 2, Parent: 7}, {ID: 3, First: 4, Last: 2, Parent: 1},
	}}
	if got := tree.Grow(broken); got.StepNode[4] == 0 || got.Len() < 6 {
		t.Errorf("steps were lost: %v", got.Ref)
	}
	if got := tree.Grow(&plan.Plan{}); got.Len() != 1 {
		t.Errorf("an empty plan has %d nodes", got.Len())
	}
}

func TestFind(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("n")
	s.has("no search; step over is o")
	s.press("/")
	s.text("GIT")
	s.has("1 match")
	if s.m.Tree.Step(s.m.CursorNode()) != stepGit {
		t.Errorf("at %s", s.m.Tree.Title(s.m.CursorNode()))
	}
	s.press("esc")
	if s.m.CursorNode() != 0 || s.m.Find.Text != "" {
		t.Error("esc did not take the search back")
	}
	s.press("/")
	s.text("install")
	s.press("enter")
	first := s.m.CursorNode()
	s.keys("n n")
	if s.m.CursorNode() <= first {
		t.Error("n did not go on")
	}
	s.keys("N N")
	if s.m.CursorNode() != first {
		t.Error("N did not go back")
	}
	s.press("/")
	s.text("the")
	s.press("tab")
	s.press("enter")
	for title := range strings.SplitSeq(s.rowsShown(), "\n") {
		if strings.HasPrefix(title, "install ") || title == "say hello" {
			t.Errorf("%q does not match", title)
		}
	}
	s.keys("esc esc")
	if s.m.Filter != tree.FilterAll {
		t.Error("esc did not show all again")
	}
	s.press("/")
	s.Send(tea.PasteMsg{Content: "zsh"})
	s.has("/zsh")
	s.press("ctrl+c")
	if s.m.Prompt != nil {
		t.Error("ctrl+c was typed into the search")
	}
}

func TestFilter(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }})
	s.keys("A c f")
	if got := s.rowsShown(); got != "devbox.yml\ninclude: packages.yml\ninclude: languages/go.yml\nunpack go\nreplace /etc/hosts" {
		t.Errorf("problems:\n%s", got)
	}
	s.keys("f")
	if got := s.rowsShown(); strings.Contains(got, "unpack go") || !strings.Contains(got, "install fd-find") {
		t.Errorf("changed:\n%s", got)
	}
	s.keys("f")
	s.has("not done")
	if got := s.rowsShown(); !strings.Contains(got, "clone the dotfiles") || strings.Contains(got, "install git") {
		t.Errorf("not done:\n%s", got)
	}
	s.keys("f")
	s.has("Plan  all")
}

// The pointer is the engine's, the cursor the person's; following ties them.
func TestFollow(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A")
	s.press("c")
	s.f.Until("install git")
	s.frame()
	if s.m.Tree.Step(s.m.CursorNode()) != stepGit {
		t.Fatal("the cursor does not follow")
	}
	s.press("k")
	s.f.Until("install tmux")
	s.frame()
	if s.m.Tree.Step(s.m.CursorNode()) == stepTmux {
		t.Error("it follows although the person moved")
	}
	s.press(".")
	if s.m.Tree.Step(s.m.CursorNode()) != stepTmux {
		t.Error(". did not go to the pointer")
	}
	s.press("F")
	s.has("following")
	s.f.Until("download go")
	s.frame()
	if s.m.Tree.Step(s.m.CursorNode()) != stepTmux+1 {
		t.Error("F does not follow")
	}
}

// Who types is not pulled away by a failure.
func TestFailureDoesNotDisturbTyping(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["install git"] = 1 }})
	s.keys("A")
	s.press("c")
	s.on("say hello")
	s.press("/")
	s.text("shell")
	at := s.m.CursorNode()
	s.f.Settle()
	s.frame()
	if s.m.Shot.Phase != events.Paused || s.m.CursorNode() != at || s.m.Prompt == nil {
		t.Error("the failure moved the cursor while somebody typed")
	}
	s.has("PAUSED on failure")
}

func TestBell(t *testing.T) {
	for _, focus := range []tea.Msg{tea.FocusMsg{}, tea.BlurMsg{}} {
		s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["install git"] = 1 }})
		s.Send(focus)
		s.keys("A c")
		bells := 0
		for _, msg := range s.cmds {
			if raw, ok := msg.(tea.RawMsg); ok && raw.Msg == "\a" {
				bells++
			}
		}
		_, away := focus.(tea.BlurMsg)
		if (bells == 1) != away || bells > 1 {
			t.Errorf("%T: %d bells", focus, bells)
		}
	}
}

func TestTabsAndPanes(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.on("unpack go")
	for key, want := range map[string]string{
		"1": "go_now known after step-0008", "2": "It has not run.", "3": "Not known before it runs.", "4": "after step-0008",
		"5": "No events yet.",
	} {
		s.press(key)
		s.has(want)
	}
	s.keys("1 tab")
	if s.m.FocusedPane() != view.PaneDetail {
		t.Error("tab did not change the pane")
	}
	width := s.m.CurrentLayout().DetailW
	s.press("<")
	if s.m.CurrentLayout().DetailW != width+2 {
		t.Error("< did not move the divider")
	}
	s.keys("> +")
	if got := s.m.CurrentLayout().DetailW; got <= width {
		t.Errorf("+ made the pane %d cells", got)
	}
	s.press("+")
	if s.m.CurrentLayout().TreeW != 0 {
		t.Error("+ + is not the whole screen")
	}
	s.keys("_ _")
	if s.m.CurrentLayout().DetailW != width {
		t.Error("_ _ did not come back")
	}
	for range 100 {
		s.press(">")
	}
	if s.m.CurrentLayout().DetailW < 20 {
		t.Error("the divider left the screen")
	}
	// 80×24 has room for one pane, and tab flips.
	s = newScreen(t, setup{w: 80, h: 24})
	s.on("unpack go")
	s.has("Plan", "shell set -e")
	s.press("tab")
	s.has("─‹Step› unpack go", "rm -rf /usr/local/go")
	s.press("2")
	s.has("─‹Output› unpack go")
}

func TestOutput(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 20, fake: func(f *tuitest.Engine) { f.Fails["check the shell"] = 1 }})
	s.f.Print = func(_ *tuitest.Engine, i, attempt int) string {
		prefix := fmt.Sprintf("%d.%d", i, attempt)
		w := steplog.NewWriter(s.dir, prefix, nil)
		defer w.Close()
		for k := range 5000 {
			_, _ = fmt.Fprintf(w.Stdout(), "line %d %s\n", k, map[bool]string{true: "NEEDLE"}[k%1000 == 777])
		}
		_, _ = fmt.Fprintf(w.Stderr(), "\x1b[31mred\x1b[0m \x1b[2Jwiped\n%s\n", strings.Repeat("long ", 40))
		return prefix
	}
	s.keys("s s")
	s.on("say hello")
	s.keys("2 tab")
	s.has("line 4999", "red wiped", "5002 lines · end ─", "lon…")
	s.press("w")
	s.has("long long\n")
	s.keys("w k k k")
	s.has("line 4985")
	s.keys("g g")
	s.has("line 0", "line 14")
	s.keys("ctrl+d pgdown")
	s.has("line 30")
	if s.m.Detail.Reel.From > 0 && len(s.m.Detail.Reel.Lines) > 1000 {
		t.Errorf("%d lines are held", len(s.m.Detail.Reel.Lines))
	}
	s.press("/")
	s.text("needle")
	s.press("enter")
	s.has("line 777‹NEEDLE›", "1 of 5", "n next")
	s.keys("n")
	s.has("line 1777‹NEEDLE›", "2 of 5")
	s.keys("N N")
	s.has("line 4777‹NEEDLE›", "5 of 5")
	s.keys("esc G")
	s.has("wiped")
	s.keys("l l")
	if s.m.Detail.Output.X != 16 {
		t.Errorf("l l scrolled to %d", s.m.Detail.Output.X)
	}
	s.keys("h h h")
	if s.m.FocusedPane() != view.PaneTree {
		t.Error("h at the left edge does not go back to the tree")
	}
	// ] and [ are problems in the tree, attempts in the output: with one attempt they say so.
	s.keys("tab [")
	s.has("there is one attempt")
}

func TestCopy(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A c")
	s.on("unpack go")
	for key, want := range map[string]string{
		"y": "unpack go", "l": "languages/go.yml:10", "c": "set -e",
		"o": "go/\ngo/VERSION\ngo/bin/go\ntar: /usr/local: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors\n",
	} {
		s.cmds = nil
		s.keys("y " + key)
		var got string
		for _, msg := range s.cmds {
			got += fmt.Sprint(msg)
		}
		if got != want {
			t.Errorf("y %s copied %q, want %q", key, got, want)
		}
		s.has("copied ")
	}
	s.cmds = nil
	s.keys("y d")
	if len(s.cmds) != 0 {
		t.Errorf("y d copied %v where there is no diff", s.cmds)
	}
}

type editor struct {
	opened []string
	err    error
}

func (*editor) SetStdin(io.Reader)  {}
func (*editor) SetStdout(io.Writer) {}
func (*editor) SetStderr(io.Writer) {}
func (e *editor) Run() error        { return e.err }

// edits lets the screen believe that the editor was left.
func (s *screen) edits(err error) { s.Send(edited{err}) }

func TestEditAndReload(t *testing.T) {
	e := &editor{}
	var list diag.List
	plans := map[string]*plan.Plan{}
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) {
		o.Editor = func(file string, line int) tea.ExecCommand {
			e.opened = append(e.opened, fmt.Sprintf("%s:%d", file, line))
			return e
		}
		o.Reload = func() (diag.List, error) {
			if list.HasErrors() {
				return list, errors.New("the playbook has mistakes")
			}
			return nil, nil
		}
		o.PlanFor = func(digest string) *plan.Plan { return plans[digest] }
	}})
	s.on("unpack go")
	s.press("E")
	s.on("block: dotfiles")
	s.press("E")
	s.on("devbox.yml")
	s.press("E")
	if want := []string{"/home/ann/devbox/languages/go.yml:10", "/home/ann/devbox/devbox.yml:10", "/home/ann/devbox/devbox.yml:1"}; !reflect.DeepEqual(e.opened, want) {
		t.Errorf("opened %v, want %v", e.opened, want)
	}
	s.edits(errors.New("vi: not found"))
	s.has("editor: vi: not found")

	list.Add(diag.Diagnostic{Pos: diag.Pos{File: "packages.yml", Line: 5, Column: 3}, Message: "unknown key \"shel\"", Hint: "did you mean shell?"})
	s.edits(nil)
	s.has("1 mistake", "packages.yml:5:3", "unknown key", "hint: did you mean shell?", "the old plan stays")
	s.press("E")
	if got := e.opened[len(e.opened)-1]; got != "/home/ann/devbox/packages.yml:5" {
		t.Errorf("E in the box opened %s", got)
	}
	list = nil

	// A new plan: one step more, one changed. Cursor, marks and folding stay where they were.
	s.on("block: dotfiles")
	s.keys("h")
	s.on("check the shell")
	s.keys("space")
	s.on("install tmux")
	next := devbox()
	next.Digest = "another"
	next.Steps[stepShell].Digest = "edited"
	next = withStep(next)
	plans[next.Digest] = next
	s.edits(nil)
	s.has("replanned")
	s.f.P = next
	s.f.Say(-1, events.PlanLoaded{TotalSteps: len(next.Steps), Digest: next.Digest, Generation: 2})
	s.f.Say(stepGit+1, events.StepCompleted{Name: "install git", Kept: true})
	s.frame()
	s.has("devbox.yml: 1 step changed, 1 added", "17 steps", "= │ │ ├   install git", "1 marked")
	if got := s.m.Tree.Title(s.m.CursorNode()); got != "install tmux" {
		t.Errorf("the cursor went to %q", got)
	}
	if s.m.Rows.Folded[s.m.Tree.ScopeNode[4]] != true {
		t.Error("the folding was forgotten")
	}
	// A plan nobody knows leaves the old one, and nothing breaks.
	s.f.Say(-1, events.PlanLoaded{TotalSteps: 3, Digest: "unknown"})
	s.f.Say(2, events.StepStarted{})
	s.frame()
	s.keys("G a x b j k")
}

// withStep puts a step in front of all others.
func withStep(p *plan.Plan) *plan.Plan {
	p.Steps = append([]plan.Step{{Path: "/new", Name: "a new step", Action: "print"}}, p.Steps...)
	for i := range p.Steps {
		p.Steps[i].Index = i
		for k := range p.Steps[i].Unknowns {
			for j := range p.Steps[i].Unknowns[k].Steps {
				p.Steps[i].Unknowns[k].Steps[j]++
			}
		}
	}
	for i := range p.Scopes {
		if i > 0 {
			p.Scopes[i].First++
		}
		p.Scopes[i].Last++
	}
	return p
}

func TestGatesAreAnswered(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A")
	s.f.Say(-1, events.RunResumed{})
	s.f.Say(stepClone, events.GateOpened{Reason: events.PauseUser, Message: "look at it"})
	s.frame()
	s.on("clone the dotfiles")
	s.has("‖ │ ├   clone the dotfiles", "needs an answer", "a continue", "x reject")
	s.sends("a", events.Answer{Step: stepClone})
	s.sends("x", events.Answer{Step: stepClone, Reject: true})
}

// Without colours every state is told by its glyph, and by a word or its place.
func TestEveryStateWithoutColours(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		s := newScreen(t, setup{w: 120, h: 40, ascii: ascii})
		s.keys("A 3") // a tab that names no step
		s.f.Say(-1, events.RunResumed{})
		outcomes := []events.Event{
			events.StepCompleted{},
			events.StepCompleted{Changed: true},
			events.StepFailed{Error: "no"},
			events.StepFailed{Error: "no", Ignored: true},
			events.StepFailed{Error: "no", Rescued: true},
			events.StepSkipped{Reason: events.SkipWhen},
			events.StepCompleted{Kept: true},
			events.StepCancelled{},
			events.StepStarted{},
			events.StepOmitted{Reason: "x"},
			events.StepLost{},
			events.StepFailed{Timeout: true, Error: "slow"},
		}
		for i, e := range outcomes {
			s.f.Say(i, e)
		}
		s.frame()
		rows := map[string]string{}
		for row := range strings.SplitSeq(s.shows(), "\n") {
			for i := range outcomes {
				title := tree.StepTitle(&s.m.Plan.Steps[i])
				if at := strings.Index(row, title); at > 0 && strings.Contains(row, "│") == !ascii {
					look := string([]rune(row)[3]) + strings.TrimSpace(strings.SplitN(row[at+len(title):], s.m.Glyphs.Down, 2)[0])
					if other, ok := rows[look]; ok {
						t.Errorf("%s and %s both look like %q", other, title, look)
					}
					rows[look] = title
				}
			}
		}
		if !ascii && len(rows) != len(outcomes) {
			t.Errorf("%d rows of %d: %v", len(rows), len(outcomes), rows)
		}
	}
}

func TestThemes(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Theme = "nosuch" }})
	s.has(`there is no theme "nosuch"`)
	for _, name := range themes.Names("") {
		s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Theme = name }})
		frame := s.m.View().Content
		checkFrame(t, frame, 120, 40)
		if name == themes.Default && strings.Contains(frame, "90m") {
			t.Error("bright black is used: in Solarized it is the background")
		}
	}
}

func TestChooseGlyphs(t *testing.T) {
	for _, c := range []struct {
		want, lang, term string
		ascii            bool
	}{
		{"auto", "de_DE.UTF-8", "xterm", false},
		{"", "C.utf8", "tmux-256color", false},
		{"auto", "C", "xterm", true},
		{"auto", "", "xterm", true},
		{"auto", "de_DE.UTF-8", "linux", true},
		{"auto", "de_DE.UTF-8", "dumb", true},
		{"unicode", "C", "linux", false},
		{"ascii", "de_DE.UTF-8", "xterm", true},
	} {
		env := func(name string) string { return map[string]string{"LANG": c.lang, "TERM": c.term}[name] }
		if got := draw.ChooseGlyphs(c.want, env); (got.Pointer == ">") != c.ascii {
			t.Errorf("%+v gave pointer %q", c, got.Pointer)
		}
	}
}

// However many events there are, the screen is asked to draw at most thirty times a second, and the last change is
// never lost.
func TestFramesAreFew(t *testing.T) {
	st := feed.NewStore()
	feed := make(chan []events.Record)
	stop := make(chan struct{})
	defer close(stop)
	drawn := make(chan uint64, 1000)
	go st.Drain(feed)
	go passFrames(st.Poke, stop, func() {
		st.Read(func(run *events.Run) { drawn <- run.LastSeq })
	})
	const n = 20_000
	began := time.Now()
	for i := range n {
		feed <- []events.Record{{Seq: uint64(i + 1), Step: -1, Event: events.Warning{Message: "x"}}}
	}
	close(feed)
	spent := time.Since(began)
	for seq := uint64(0); seq < n; {
		select {
		case seq = <-drawn:
		case <-time.After(5 * time.Minute):
			t.Fatalf("the last frame saw %d of %d events", seq, n)
		}
	}
	if most := int(spent/frameTime) + 3; len(drawn) > most {
		t.Errorf("%d frames in %v", len(drawn), spent)
	}
}

// An interrupted run closes the screen: nobody is there to press q.
func TestStopBySignalCloses(t *testing.T) {
	s := newScreen(t, setup{w: 80, h: 24})
	s.keys("A")
	s.f.Send(events.Stop{How: events.StopDrain}) // as for SIGHUP
	s.frame()
	if !quits(s) {
		t.Error("the screen stayed after a signal")
	}
}

func TestNothingIsDrawnTwice(t *testing.T) {
	s := newScreen(t, setup{w: 80, h: 24})
	before := s.m.View().Content
	s.m.Glyphs.Dots = "!!" // would show if it were drawn again
	s.Send(tea.KeyReleaseMsg{Code: 'a'})
	if s.m.View().Content != before {
		t.Error("a message that changes nothing drew a frame")
	}
	if s.m.IsMoving() || s.m.keepTicking() != nil {
		t.Error("a review ticks")
	}
}

// A theme with a background of its own leaves no hole in it.
func TestBackgroundHasNoHoles(t *testing.T) {
	for _, scene := range scenes {
		s := newScreen(t, setup{w: 120, h: 40, fake: scene.fake, options: func(o *Options) { o.Theme = "moonlight" }})
		scene.play(s)
		for y, row := range strings.Split(s.m.View().Content, "\n") {
			painted := false
			for i := 0; i < len(row); {
				if row[i] == '\x1b' {
					end := i + strings.IndexByte(row[i:], 'm') + 1
					painted = strings.Contains(row[i:end], "48;2;") || painted && !strings.HasPrefix(row[i:], "\x1b[m") && !strings.HasPrefix(row[i:], "\x1b[0")
					i = end
					continue
				}
				if !painted {
					t.Fatalf("%s: a hole in row %d at byte %d: %q", scene.name, y, i, row)
				}
				i++
			}
		}
	}
}

// TestNotices notifies only a person who is looking elsewhere: of a failure, of the end, and of nothing that was asked for a moment ago.
func TestNotices(t *testing.T) {
	for _, focus := range []tea.Msg{tea.FocusMsg{}, tea.BlurMsg{}} {
		s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["install git"] = 1 }})
		var said []string
		s.m.Tools.Notify = func(text string) tea.Cmd {
			said = append(said, text)
			return nil
		}
		s.Send(focus)
		s.keys("A c")
		s.keys("r c a c")
		s.f.Settle()
		want := ""
		if _, away := focus.(tea.BlurMsg); away {
			want = "devbox.yml paused: a step has failed|devbox.yml needs a confirmation|devbox.yml is done"
		}
		if got := strings.Join(said, "|"); got != want {
			t.Errorf("%T: %q, not %q", focus, got, want)
		}
	}
	notify := notifying(&Options{Notices: true})
	if raw, ok := notify("x y")().(tea.RawMsg); !ok || raw.Msg != "\x1b]9;x y\a" {
		t.Error("the terminal is not asked")
	}
	if notifying(&Options{}) != nil {
		t.Error("it was not asked for")
	}
}
