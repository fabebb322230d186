package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/teatest/v2"

	"moon/engine"
	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	_ "moon/exec/action"
	"moon/exec/fsys"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/bind"
	reports "moon/tui/plain"
)

// walk is a person at a terminal, with the real engine and real steps behind the screen. Only the time is not real: it goes on when
// a step has ended, by what steps are said to take, so that every screen is the same each time.
type walk struct {
	t     *testing.T
	name  string // of the goldens
	w, h  int
	home  string // everything is in it: the playbook, what its steps touch, the runs
	pace  *pace
	hosts []string // inventories
	took  *engine.Session
	tm    *teatest.TestModel
	e     *emulator
	run   *events.Run // as the report wants it
	over  chan struct{}
	stop  chan struct{}
}

// pace is the time of a walk, and how long steps take in it.
type pace struct {
	exec.Local
	mu    sync.Mutex
	now   time.Time
	takes map[string]time.Duration
	gates map[string]chan struct{} // a step that waits to be let go
}

func (p *pace) time() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

var stepID = regexp.MustCompile(`step-\d+`)

// Run carries out a step for real, and lets the time pass that it takes here.
func (p *pace) Run(ctx context.Context, job *exec.Job) exec.Result {
	id := stepID.FindString(job.Attempt)
	if gate := p.gates[id]; gate != nil {
		<-gate
	}
	result := p.Local.Run(ctx, job)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(max(p.takes[id], 200*time.Millisecond))
	return result
}

// newWalk makes a home whose path is always as long, since paths are cut where they do not fit.
func newWalk(t *testing.T, name string, w, h int) *walk {
	t.Helper()
	home := ""
	for n := os.Getpid(); ; n++ {
		home = fmt.Sprintf("/tmp/moon-%04d", n%10000)
		err := os.Mkdir(home, 0o700)
		if err == nil {
			break
		}
		if !os.IsExist(err) {
			t.Fatal("no place for a directory with a short name:", err)
		}
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if err := os.CopyFS(filepath.Join(home, "shop"), os.DirFS("../testdata/playbooks/walk")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LC_ALL", "C") // the steps' programs speak English
	return &walk{t: t, name: name, w: w, h: h, home: home, pace: &pace{
		now: time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC),
		takes: map[string]time.Duration{
			"step-0003": 2 * time.Second, "step-0005": 31 * time.Second, "step-0006": 2 * time.Second, "step-0008": 11 * time.Second,
			"step-0010": 9 * time.Second, "step-0011": 133 * time.Second, "step-0017": 19 * time.Second, "step-0018": 19 * time.Second,
			"step-0020": 4 * time.Second, "step-0021": 21 * time.Second,
		},
		gates: map[string]chan struct{}{"step-0001": make(chan struct{}), "step-0005": make(chan struct{})},
	}}
}

// write makes a file of the playbook what it says.
func (k *walk) write(file, text string) {
	k.t.Helper()
	file = filepath.Join(k.home, "shop", file)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

func (k *walk) planned() plan.Options {
	return plan.Options{
		Path: filepath.Join(k.home, "shop/site.yml"), Dir: k.home, Home: k.home, User: "ann",
		Hosts: plan.HostSelection{Inventory: k.hosts},
	}
}

func (k *walk) build() (*plan.Plan, *graph.Graph) {
	k.t.Helper()
	p, g, ds := engine.Build(k.planned())
	if p == nil {
		k.t.Fatal(ds)
	}
	return p, g
}

func (k *walk) config(p *plan.Plan, g *graph.Graph) engine.Config {
	return engine.Config{
		Plan: p, Graph: g, Runner: k.pace, Dry: exec.DryRun{}, Runs: filepath.Join(k.home, "runs"), Now: k.pace.time,
		Options: fact.Options{Forks: 8, OnFailure: fact.Drain, Review: true, BreakOnFailure: true, KeepOpen: true},
	}
}

// begin opens the screen of a new run.
func (k *walk) Begin() {
	k.t.Helper()
	p, g := k.build()
	s, err := engine.Start(k.config(p, g))
	if err != nil {
		k.t.Fatal(err)
	}
	k.open(s, p)
}

// resume opens the screen of the same run, another day.
func (k *walk) resume() {
	k.t.Helper()
	past := k.took.Dir()
	k.pace.mu.Lock()
	k.pace.now = k.pace.now.Add(18 * time.Hour)
	k.pace.mu.Unlock()
	last := k.took.PlanFor(k.run.Digest)
	again := k.planned()
	again.Values.Overrides = last.Overrides()
	p, g, ds := engine.Build(again)
	if p == nil {
		k.t.Fatal(ds)
	}
	s, err := engine.Resume(k.config(p, g), engine.Resumption{
		Dir: past, Lost: fact.LostRetry,
		Planned: func(digest string) (*plan.Plan, *graph.Graph, error) {
			kept, err := engine.ReadKept(past, digest)
			if err != nil {
				return nil, nil, err
			}
			return kept.Plan(k.planned())
		},
	})
	if err != nil {
		k.t.Fatal(err)
	}
	k.open(s, p)
}

// open shows a session, with all that moon tui gives a screen.
func (k *walk) open(s *engine.Session, p *plan.Plan) {
	k.took, k.run, k.over, k.stop = s, &events.Run{}, make(chan struct{}), make(chan struct{})
	feed, _ := s.Follow(context.Background(), false)
	shown := make(chan []events.Record)
	go func() {
		defer close(k.over)
		defer close(shown)
		for batch := range feed {
			for _, r := range batch {
				k.run.Apply(r)
			}
			shown <- batch
		}
	}()
	profile := colorprofile.TrueColor
	m := newModel(Options{
		Plan: p, PlanFor: s.PlanFor, Why: s.Why, Forecast: s.Forecast, OutDir: s.OutDir, Saved: "~" + strings.TrimPrefix(s.Dir(), k.home),
		Send: func(order events.Order) {
			order.Actor = "ann"
			s.Send(order)
		},
		Preview:    engine.Preview,
		Eval:       s.Eval,
		CheckBreak: bind.CheckBreak,
		ParseBreak: engine.ParseBreak,
		PredictAll: func(ctx context.Context, p *plan.Plan, left func(int) bool, tell func(*events.Prediction)) {
			s.ExpectNothing()
			(&engine.Predictor{Plan: p, Dry: exec.DryRun{Overlay: fsys.NewOverlay()}, Left: left}).PredictAll(ctx, func(f *events.Prediction) {
				s.Expect(p, f)
				tell(f)
			})
		},
		Reload: func() (diag.List, error) {
			o := k.planned()
			o.Values.Overrides = s.Overrides()
			p, g, ds := engine.Build(o)
			if p == nil {
				return ds, nil
			}
			return ds, s.Replan(p, g)
		},
		Editor: func(file string, line int) ExecCommand { return exec.Editor(file, line) },
		Shell:  func(*plan.Plan, int) (ExecCommand, error) { return nil, io.EOF },
		Glyphs: "unicode", Profile: &profile, Now: k.pace.time,
	}, func(string) string { return "" })
	m.later = func() tea.Cmd { return nil } // no time goes by while a step runs
	go m.Store.Drain(shown)
	k.tm = teatest.NewTestModel(k.t, m, teatest.WithInitialTermSize(k.w, k.h), teatest.WithProgramOptions(tea.WithColorProfile(profile)))
	go passFrames(m.Store.Poke, k.stop, func() { k.tm.Send(frameMsg{}) })
	k.e = newTerminal(k.t, k.w, k.h, io.Discard)
	go k.e.watch(k.tm.Output(), k.stop)
}

// press presses keys, named as in the key table and separated by blanks, and waits until all the texts are on the screen.
func (k *walk) press(keys string, texts ...string) {
	k.t.Helper()
	for name := range strings.FieldsSeq(keys) {
		key, ok := keyCodes[name]
		if letter, ctrl := strings.CutPrefix(name, "ctrl+"); ctrl {
			key, ok = tea.Key{Code: rune(letter[0]), Mod: tea.ModCtrl}, true
		}
		if !ok {
			key = tea.Key{Code: []rune(name)[0], Text: name}
		}
		k.tm.Send(tea.KeyPressMsg(key))
	}
	k.e.waitFor(texts...)
}

// find goes to a step by its name.
func (k *walk) find(name string) {
	k.t.Helper()
	k.press("/")
	k.tm.Type(name)
	k.press("enter esc")
}

// leave waits for the end of the screen and of the run, and gives what is left in the terminal.
func (k *walk) leave() string {
	k.t.Helper()
	k.tm.WaitFinished(k.t, teatest.WithFinalTimeout(20*time.Second))
	<-k.over
	if err := k.took.Wait(); err != nil {
		k.t.Fatal(err)
	}
	close(k.stop)
	var b strings.Builder
	if err := (reports.Report{Plan: k.took.PlanFor(k.run.Digest), Run: k.run, Dir: k.took.Dir()}).Write(&b); err != nil {
		k.t.Fatal(err)
	}
	return k.masked(b.String())
}

// unsteady is what differs from walk to walk; what stands for it is as long.
var unsteady = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`/tmp/moon-\d{4}`), "/tmp/moon-walk"},
	{regexp.MustCompile(`(\d{8}-\d{6})-[0-9a-f]{4}`), "$1-7f3a"},
	{regexp.MustCompile(`(plan      )[0-9a-f]{12}`), "${1}6775ac28253e"},
}

func (k *walk) masked(screen string) string {
	for _, u := range unsteady {
		screen = u.pattern.ReplaceAllString(screen, u.with)
	}
	return screen
}

// shows is the screen as goldens have it. The emulator says what is underlined, and nothing else, shorter than the screen does.
func (k *walk) shows() string {
	return k.masked(plainFrame(strings.ReplaceAll(k.e.styled(), "\x1b[4m", "\x1b[0;4m")))
}

// screen compares the screen with a golden. What is asked for in the background may come a little later, so it waits for what is
// expected, and fails when it does not come.
func (k *walk) screen(name string) {
	k.t.Helper()
	name = k.name + "/" + name
	want, err := os.ReadFile(filepath.Join("testdata", name+".golden"))
	if os.Getenv("UPDATE") != "" {
		want = nil
	} else if err != nil {
		k.t.Fatal(err)
	}
	got, since := k.shows(), time.Now()
	for began := time.Now(); got != string(want) && time.Since(began) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		now := k.shows()
		if now != got {
			got, since = now, time.Now()
		}
		if want == nil && time.Since(since) > time.Second {
			break // UPDATE=1 takes what has come to rest
		}
	}
	golden(k.t, name, got)
}

// TestTheWalk is a release from the review to the report, through two failures, an end in between, and another day.
func TestTheWalk(t *testing.T) {
	k := newWalk(t, "walk", 120, 40)
	t.Setenv("EDITOR", "sed -i s/shpo/shop/")
	k.write("srv/postgresql.conf", "listen_addresses = '*'\nmax_connections = 100\nshared_buffers = 4GB\n")
	k.write("srv/old/VERSION", "shop 1.9\n")
	k.review()

	// 3: it runs; nothing jumps.
	k.runs()

	// 4: the breakpoint, before the step, with what it would do.
	k.press("", "PAUSED at breakpoint")
	k.press("3 W")
	k.tm.Type("max_connections")
	k.press("enter")
	k.tm.Type("free.stdout")
	k.press("enter esc", "+max_connections = 400", "81920")
	k.screen("4-breakpoint")

	// 5: a failure. Nothing else has started, and no rescue.
	k.press("c", "PAUSED on failure", "What now?")
	k.screen("5-failure")

	// 6: other values for this step alone; it runs again alone, and the run stays paused.
	k.press("e", "Fix")
	k.screen("6-fix")
	k.press("down backspace backspace 6 0 s", "was 5s", "lock_timeout=60s")
	k.screen("6-fix-typed")
	k.press("enter", "PAUSED after a retry", "↻ 2")
	k.screen("6-retried")

	// 7: the file itself is wrong.
	k.press("c", "PAUSED on failure", "check the health")
	k.screen("7-failure")
	k.press("E", "1 step changed")
	k.screen("7-edited")
	k.press("r", "PAUSED after a retry", "nothing is running")
	k.screen("7-retried")

	// 8: leaving keeps all that is done; the next day it goes on.
	k.press("q", "Quit")
	k.screen("8-leave")
	k.press("k")
	golden(t, "walk/8-report", k.leave())
	k.resume()
	k.press("", "after resuming")
	k.screen("8-resumed")
	k.press("c", "DONE")

	// 9: what it came to.
	k.screen("9-done")
	k.press("q")
	golden(t, "walk/9-report", k.leave())
}

// TestTheWalkNarrow is the beginning of the same where one pane fits.
func TestTheWalkNarrow(t *testing.T) {
	k := newWalk(t, "walk-narrow", 60, 20)
	k.write("srv/postgresql.conf", "listen_addresses = '*'\nmax_connections = 100\nshared_buffers = 4GB\n")
	k.write("srv/old/VERSION", "shop 1.9\n")
	k.review()
	k.runs()
	k.press("", "PAUSED")
	k.press("3", "+max_connections = 400")
	k.screen("4-breakpoint")
	k.press("q")
	k.press("k")
	_ = k.leave()
}

// runs is the third point: the run begins, and goes on when the screen has been looked at.
func (k *walk) runs() {
	k.t.Helper()
	k.press("c", "RUNNING", "❯ ◐ │")
	close(k.pace.gates["step-0001"]) // the tree has been moved to it, and stays there
	k.press("", "install postgresql 16")
	k.screen("3-running")
	close(k.pace.gates["step-0005"])
}

// review is the first two points: to look, and to decide.
func (k *walk) review() {
	k.t.Helper()
	k.Begin()
	k.press("", "REVIEW", "3 need attention")
	k.screen("1-review")
	k.press("]", "stop the app")
	k.screen("1-next")
	k.press("A")
	k.screen("2-approved")
	k.press("a ]")
	k.press("a ]")
	k.press("a")
	k.screen("2-confirmed")
	k.find("vacuum full")
	k.press("x", "⊘")
	k.find("render postgresql.conf")
	k.press("b", "●")
	k.screen("2-decided")
}
