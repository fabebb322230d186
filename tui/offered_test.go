package tui

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"moon/engine"
	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/bind"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/frame"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/view"
)

// offeredSeeds is how many runs TestOfferedKeys drives. MOON_OFFERED=N drives N; MOON_OFFERED_SEED=N the one of that seed, with
// every key. In the short form some of them are driven, which need not be offered everything.
const offeredSeeds = 150

// TestOfferedKeys drives random playbooks by random keys, over the real engine. In every state that is reached, what the footer, the
// list of ways out, the sheet of values and the palette offer must not be refused, and what they offer must change something.
func TestOfferedKeys(t *testing.T) {
	from, n := uint64(1), offeredSeeds
	switch {
	case testing.Short() && raced:
		n /= 10
	case testing.Short():
		n /= 4
	}
	if more, err := strconv.Atoi(os.Getenv("MOON_OFFERED")); err == nil {
		n = more
	}
	one, err := strconv.ParseUint(os.Getenv("MOON_OFFERED_SEED"), 10, 64)
	if err == nil {
		from, n = one, 1
	}
	pressed := map[string]int{}
	for seed := from; seed < from+uint64(n) && !t.Failed(); seed++ {
		o := newOffering(t, seed)
		o.drive(pressed)
		o.end()
	}
	if n < offeredSeeds {
		return
	}
	ways := 0
	for k, n := range pressed {
		if strings.HasPrefix(k, "way ") {
			ways += n
		}
	}
	if ways < 5 {
		t.Errorf("%d ways out of a failure were tried; tried were %v", ways, pressed)
	}
	for _, must := range []string{
		"footer a", "footer A", "footer x", "footer c", "footer s", "footer o", "footer O", "footer u", "footer r", "footer D", "footer E",
		"footer e", "footer ]", "footer .", "sheet enter", "sheet tab", "sheet ctrl+u", "sheet ctrl+r", "palette X",
	} {
		if pressed[must] == 0 {
			t.Errorf("never offered, or never tried: %s; tried were %v", must, pressed)
		}
	}
}

// offering is a run with a screen, and the dice of one seed.
type offering struct {
	*rand.Rand
	t     *testing.T
	seed  uint64
	dir   string
	plays bool
	forks int
	still bool // what does not depend on a failed step runs
	ids   int
	edits int
	jobs  *offeredJobs

	took  *engine.Session
	feed  <-chan []events.Record
	leave context.CancelFunc
	run   events.Run
	sc    *screen
	log   []string
}

// offeredJobs does what steps ask for, without doing anything: some fail a few times, some do not end before they are let go.
type offeredJobs struct {
	mu      sync.Mutex
	tried   map[string]int
	blocked map[chan struct{}]bool
	ends    bool // nothing is slow any more
}

func (j *offeredJobs) Run(ctx context.Context, job *exec.Job) exec.Result {
	cmd := job.Action
	if a, ok := job.Args.(*spec.ShellArgs); ok {
		cmd = a.Cmd
	}
	zero, one := 0, 1
	var fails int
	name, rest, _ := strings.Cut(cmd, " ")
	j.mu.Lock()
	j.tried[cmd]++
	tried := j.tried[cmd]
	free := make(chan struct{})
	if name == "slow" && tried == 1 && !j.ends {
		j.blocked[free] = true
	} else {
		close(free)
	}
	j.mu.Unlock()
	select {
	case <-free:
	case <-ctx.Done():
		j.mu.Lock()
		delete(j.blocked, free)
		j.mu.Unlock()
		return exec.Result{Outcome: events.Cancelled}
	}
	if name == "fails" {
		_, _ = fmt.Sscan(rest, &fails)
	}
	if tried <= fails {
		return exec.Result{Outcome: events.Failed, RC: &one, Error: "exit status 1"}
	}
	outcome := events.OK
	if name == "changes" {
		outcome = events.Changed
	}
	return exec.Result{Outcome: outcome, RC: &zero, Fields: map[string]any{"stdout": "x", "rc": 0, "changed": name == "changes"}}
}

// release lets what is slow end, and waiting is how much of it there is.
func (j *offeredJobs) release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for free := range j.blocked {
		close(free)
	}
	clear(j.blocked)
}

func (j *offeredJobs) waiting() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.blocked)
}

func newOfferingDice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 14)) }

func newOffering(t *testing.T, seed uint64) *offering {
	t.Helper()
	o := &offering{
		Rand: newOfferingDice(seed), t: t, seed: seed, dir: t.TempDir(),
		jobs: &offeredJobs{tried: map[string]int{}, blocked: map[chan struct{}]bool{}},
	}
	o.plays, o.forks = o.IntN(3) == 0, 1+o.IntN(3)
	o.open(o.playbook())
	return o
}

// open plans a playbook, starts it, and shows it.
func (o *offering) open(playbook string) {
	o.t.Helper()
	o.write("site.yml", playbook)
	p, g, ds := engine.Build(o.planned())
	if p == nil {
		o.fatal("the playbook has mistakes: %v", ds)
	}
	o.Begin(p, g)
}

func (o *offering) write(file, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, file), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

func (o *offering) planned() plan.Options {
	p := plan.Options{Path: filepath.Join(o.dir, "site.yml"), Dir: o.dir, Facts: plan.KnownFacts{Here: map[string]any{}}}
	if o.plays {
		p.Hosts.Inventory, p.Login.Connection, p.Hosts.NoConnect = []string{"h1,h2"}, "local", true
	}
	return p
}

// playbook makes up a playbook, of steps or of plays.
func (o *offering) playbook() string {
	var b strings.Builder
	if !o.plays {
		b.WriteString("vars:\n  word: x\nsteps:\n")
		o.tasks(&b, "  ", 2)
		return b.String()
	}
	for range 1 + o.IntN(2) {
		fmt.Fprintf(&b, "- hosts: all\n  gather_facts: false\n  strategy: %s\n  vars:\n    word: x\n  tasks:\n",
			o.pick("linear", "linear", "free"))
		o.tasks(&b, "    ", 2)
		b.WriteString("  handlers:\n    - name: handle\n      shell: handled\n")
	}
	return b.String()
}

func (o *offering) pick(of ...string) string { return of[o.IntN(len(of))] }

func (o *offering) tasks(b *strings.Builder, indent string, depth int) {
	for range 1 + o.IntN(4) {
		switch {
		case depth > 0 && o.IntN(4) == 0:
			b.WriteString(indent + "- block:\n")
			o.tasks(b, indent+"    ", depth-1)
			kinds := o.IntN(4)
			if kinds > 0 {
				b.WriteString(indent + "  rescue:\n")
				o.tasks(b, indent+"    ", depth-1)
			}
			if kinds > 1 {
				b.WriteString(indent + "  always:\n")
				o.tasks(b, indent+"    ", depth-1)
			}
		case depth > 0 && o.IntN(8) == 0:
			o.ids++
			file := fmt.Sprintf("part%d.yml", o.ids)
			var inside strings.Builder
			o.tasks(&inside, "", depth-1)
			o.write(file, inside.String())
			b.WriteString(indent + "- " + map[bool]string{true: "include_tasks", false: "include"}[o.plays] + ": " + file + "\n")
		default:
			o.task(b, indent)
		}
	}
}

func (o *offering) task(b *strings.Builder, indent string) {
	o.ids++
	do := o.pick("does", "does", "changes", "changes", "slow", fmt.Sprintf("fails %d", 1+o.IntN(3)))
	fmt.Fprintf(b, "%s- name: n%d\n%s  shell: \"%s n%d %s\"\n", indent, o.ids, indent, do, o.ids, o.pick("", "{{ word }}"))
	line := func(text string, of ...any) { fmt.Fprintf(b, indent+"  "+text+"\n", of...) }
	if o.IntN(3) == 0 {
		line("register: v%d", o.ids)
	}
	if o.IntN(6) == 0 {
		line("when: v%d is defined", max(o.ids-1-o.IntN(3), 1))
	}
	if o.IntN(5) == 0 {
		line("loop: [a, b]")
	}
	if o.IntN(5) == 0 {
		line("confirm: is that right?")
	}
	if o.IntN(8) == 0 {
		line("ignore_errors: true")
	}
	if o.plays && o.IntN(4) == 0 {
		line("notify: handle")
	}
}

// begin starts the run and opens a screen on it, with all that moon tui gives one.
func (o *offering) Begin(p *plan.Plan, g *graph.Graph) {
	o.t.Helper()
	policy := fact.Drain
	switch {
	case o.plays:
		policy = fact.Host
	case o.still:
		policy = fact.Continue
	}
	s, err := engine.Start(engine.Config{
		Plan: p, Graph: g, Runner: o.jobs, Dry: o.jobs, Runs: filepath.Join(o.dir, "runs"),
		Options: fact.Options{Forks: o.forks, OnFailure: policy, Review: true, BreakOnFailure: true, KeepOpen: true},
	})
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, leave := context.WithCancel(context.Background())
	feed, _ := s.Follow(ctx, false)
	o.took, o.feed, o.leave = s, feed, leave
	profile := colorprofile.TrueColor
	o.sc = &screen{t: o.t, dir: o.dir}
	m := newModel(Options{
		Plan: p, PlanFor: s.PlanFor, Why: s.Why, Forecast: s.Forecast, OutDir: s.OutDir,
		Send: func(order events.Order) {
			order.Actor = "ann"
			s.Send(order)
		},
		Preview:    engine.Preview,
		Eval:       s.Eval,
		CheckBreak: bind.CheckBreak,
		ParseBreak: engine.ParseBreak,
		Reload: func() (diag.List, error) {
			again := o.planned()
			again.Values.Overrides = s.Overrides()
			p, g, ds := engine.Build(again)
			if p == nil {
				return ds, nil
			}
			return ds, s.Replan(p, g)
		},
		Editor: func(string, int) ExecCommand { return &editor{} },
		Shell:  func(*plan.Plan, int) (ExecCommand, error) { return &editor{}, nil },
		Glyphs: "unicode", Profile: &profile,
	}, func(string) string { return "" })
	m.later = func() tea.Cmd { return nil }
	o.sc.m = m
	o.size(120)
}

// end stops the run. One that failed the test is left to the end of the process.
func (o *offering) end() {
	o.t.Helper()
	defer o.leave()
	o.log = append(o.log, "stop")
	o.jobs.mu.Lock()
	o.jobs.ends = true // what runs in any case, also after a stop
	o.jobs.mu.Unlock()
	o.jobs.release()
	o.took.Send(events.Order{Command: events.Stop{How: events.StopNow}})
	for deadline := time.After(time.Minute); ; {
		select {
		case batch, open := <-o.feed:
			for _, r := range batch {
				o.run.Apply(r)
			}
			if open {
				continue
			}
			if err := o.took.Wait(); err != nil {
				o.fatal("%v", err)
			}
			return
		case <-deadline:
			o.fatal("the run is stopped and does not end: %+v", o.run.Counts)
		}
	}
}

// sizes are those whose footers are looked at.
var offeredSizes = []struct{ w, h int }{{120, 40}, {80, 24}, {60, 20}}

func (o *offering) size(w int) {
	for _, size := range offeredSizes {
		if size.w == w {
			o.sc.Send(tea.WindowSizeMsg{Width: size.w, Height: size.h})
		}
	}
}

func (o *offering) fatal(format string, args ...any) {
	o.t.Helper()
	text, _ := os.ReadFile(filepath.Join(o.dir, "site.yml"))
	screen := ""
	if o.sc != nil {
		screen = o.sc.shows()
	}
	o.t.Fatalf("MOON_OFFERED_SEED=%d: %s\nafter: %s\n%s\n%s", o.seed, fmt.Sprintf(format, args...), strings.Join(o.log, " "), screen, text)
}

// probe is who sends a command that is always refused: when that is read, so is all that came before it.
const probe = "probe"

// settle lets the run come to where nothing happens by itself, and the screen see it.
func (o *offering) Settle() {
	o.t.Helper()
	for range 2 { // what the first answer comes before, the second comes after
		o.took.Why("", nil)
	}
	deadline := time.After(time.Minute)
	ask := func() { o.took.Send(events.Order{Actor: probe, Command: events.Answer{Step: -1}}) }
	ask()
	for {
		select {
		case batch, open := <-o.feed:
			seen := !open
			shown := batch[:0:0]
			for _, r := range batch {
				if e, ok := r.Event.(events.CommandRejected); ok && e.Actor == probe {
					seen = true
					continue
				}
				o.run.Apply(r)
				shown = append(shown, r)
			}
			o.sc.m.Store.ApplyAll(shown)
			if !open {
				o.sc.m.Store.End(nil)
			}
			if !seen {
				continue
			}
			if !open || o.rests() {
				o.sc.frame()
				return
			}
			time.Sleep(200 * time.Microsecond)
			ask()
		case <-deadline:
			o.fatal("the run does not come to rest: %+v", o.run.Counts)
		}
	}
}

// rests reports whether nothing more happens without a command, but by what is slow.
func (o *offering) rests() bool {
	slow := o.jobs.waiting()
	switch {
	case o.run.Counts.Running != slow:
		return false
	case o.run.Phase == events.Running:
		return slow > 0
	}
	return true
}

// offer is a key that something on the screen says can be pressed.
type offeredKey struct {
	where string // footer, way, palette, sheet
	do    keymap.Intent
	key   string
	w     int // of the screen
}

// offers lists all keys that are offered now, in any size.
func (o *offering) offers() (list []offeredKey) {
	m := o.sc.m
	add := func(where string, do keymap.Intent) {
		if why := (pane.WhyNot{State: m.State}).WhyCannot(do); why != "" && where != "palette" {
			o.fatal("%s at %d offers %s, and the same screen says: %s", where, m.Width, m.Keys.Label(do), why)
		}
		list = append(list, offeredKey{where, do, m.Keys.Label(do), m.Width})
	}
	was := m.Width
	for _, size := range offeredSizes {
		o.size(size.w)
		for _, t := range (frame.Footer{State: m.State}).FittingTips(2, 3) {
			add("footer", t.Do)
		}
		step := m.Tree.Step(m.CursorNode())
		if step >= 0 && m.Tree.Faces[step].Bad() && m.Detail.Tab == view.TabSteps &&
			(m.Position().OnFailure() || m.Shot.Phase == events.Ended) {
			for _, c := range (pane.OutcomePane{State: m.State}).ChoicesNow(&m.Plan.Steps[step]) {
				add("way", c.Do)
			}
		}
		for _, c := range paletteOffers(m.State) {
			if c.Command == nil && c.Why == "" {
				add("palette", c.Do)
			}
		}
	}
	o.size(was)
	return list
}

// state is all that a key may change, of the run and of the screen.
func (o *offering) state() string {
	m := o.sc.m
	var b strings.Builder
	fmt.Fprintln(&b, o.run.Phase, o.run.Pause.Reason, o.run.PausedAt, o.run.Digest, m.o.Plan.Digest)
	for i := range o.run.Steps {
		s := &o.run.Steps[i]
		fmt.Fprint(&b, s.State, s.Outcome, s.Approved, s.Confirmed, s.Excluded, s.Break, s.Attempt, s.Open, ";")
	}
	fmt.Fprintln(&b, m.Cur.Node, m.Cur.Anchor, slices.Sorted(maps.Keys(m.Cur.Marks)), m.Filter, m.Panes, m.Detail.Tab, m.Detail.Output.Wrap,
		m.Detail.Output.Times, m.Detail.Output.Attempt, m.Detail.Output.Follow, m.Following, m.Mouse.On, m.Find.Text, m.Sequence)
	fmt.Fprintln(&b, reflect.TypeOf(m.Overlay), m.Prompt != nil, m.Sheet != nil, m.Matrix != nil, len(m.Rows.Rows), len(o.sc.cmds),
		m.leaving,
		o.edits)
	return b.String()
}

// answers are what a screen may say when a key that was offered did something.
var answers = []string{
	"not approved;", "to confirm one by one", "pausing: ", "times ", "no times", "the cursor will follow the run",
	"the cursor stays where it is put", "is excluded; ", "is restored", "mouse ", "planning again", "replanned",
	"values changed", ": ", "from the top again", "from the end again",
}

// press presses the key that is offered, and looks what comes of it.
func (o *offering) press(k offeredKey) {
	o.t.Helper()
	o.size(k.w)
	m := o.sc.m
	before := o.state()
	o.log = append(o.log, fmt.Sprintf("%s:%s@%d", k.where, k.key, k.w))
	for part := range strings.FieldsSeq(k.key) {
		o.sc.press(part)
	}
	o.quiet(k)
	o.Settle()
	o.quiet(k)
	if k.where != "palette" && before == o.state() {
		o.fatal("%s at %d offers %s, which does nothing", k.where, k.w, k.key)
	}
	if m.crash != nil {
		o.fatal("%v", m.crash)
	}
}

// quiet fails where the screen answers with a refusal.
func (o *offering) quiet(k offeredKey) {
	o.t.Helper()
	said := o.sc.m.Message
	if f := o.sc.m.Sheet; f != nil && k.where == "sheet" && f.Note() != "" && !strings.Contains(f.Note(), "enter again does that") &&
		!strings.Contains(f.Note(), "what you typed is still here") {
		o.fatal("the sheet at %d offers %s, and answers: %s", k.w, k.key, f.Note())
	}
	allowed := said == "" || k.where == "palette" && !strings.HasPrefix(said, feed.Refused)
	for _, a := range answers {
		allowed = allowed || strings.Contains(said, a) && !strings.HasPrefix(said, feed.Refused)
	}
	if !allowed {
		o.fatal("%s at %d offers %s, which is answered: %s", k.where, k.w, k.key, said)
	}
}

// wander are keys that move about.
var wander = []string{
	"j", "j", "k", "]", "[", "G", "home", "l", "h", "enter", "space", "v", "f", "tab", "1", "2", "4", "esc", ".", "=",
	"-", "F", "b", "x", "H", "p",
}

// drive presses keys until the run has ended, or long enough.
func (o *offering) drive(pressed map[string]int) {
	o.t.Helper()
	o.Settle()
	m := o.sc.m
	for range 40 {
		o.away()
		if m.Shot.Phase == events.Done {
			return
		}
		switch what := o.IntN(20); {
		case what == 0:
			o.edit()
		case what == 1:
			o.log = append(o.log, "release")
			o.jobs.release()
			o.Settle()
		case what < 7:
			key := wander[o.IntN(len(wander))]
			o.log = append(o.log, key)
			o.sc.press(key)
			o.Settle()
		case what < 9 && pane.WhyNot{State: m.State}.WhyCannot(keymap.NodeFix) == "" && m.Sheet == nil:
			o.sheet(pressed)
		default:
			o.offered(pressed)
		}
	}
}

// offered tries one of the keys that are offered now.
func (o *offering) offered(pressed map[string]int) {
	list := o.offers()
	keep := func(when func(k offeredKey) bool) {
		if some := slices.DeleteFunc(slices.Clone(list), func(k offeredKey) bool { return !when(k) }); len(some) > 0 {
			list = some
		}
	}
	where := o.pick("footer", "footer", "footer", "way", "way", "palette")
	keep(func(k offeredKey) bool { return k.where == where })
	if o.IntN(3) > 0 {
		keep(func(k offeredKey) bool {
			return keymap.AsksTheRun(k.do) && k.do != keymap.SourceEdit && k.do != keymap.NodeShell || k.do == keymap.CursorPointer
		})
	}
	k := list[o.IntN(len(list))]
	if k.do == keymap.RunInterrupt || k.do == keymap.AppSuspend || k.do == keymap.RunLeave && o.IntN(4) > 0 {
		return
	}
	pressed[k.where+" "+k.key]++
	o.press(k)
}

// away leaves what lies over the panes, sometimes by what it offers.
func (o *offering) away() {
	m := o.sc.m
	if b, ok := m.Overlay.(*overlay.Done); ok {
		var keys []string
		_, body, _ := b.Draw(m.Screen(), 60, 20)
		for _, line := range body {
			for _, t := range line {
				if t.Ink == draw.InkKey {
					keys = append(keys, strings.TrimSpace(t.S))
				}
			}
		}
		if key := keys[o.IntN(len(keys))]; key != "esc" {
			o.press(offeredKey{where: "box", key: key, w: m.Width})
		}
	}
	for range 4 {
		if m.Overlay == nil && m.Prompt == nil && m.Sheet == nil {
			break
		}
		o.sc.press("esc")
	}
	o.Settle()
}

// sheet edits values, and gives them to the run or not.
func (o *offering) sheet(pressed map[string]int) {
	m := o.sc.m
	press := func(key string) {
		o.log = append(o.log, key)
		o.sc.press(key)
	}
	press("e")
	if o.IntN(2) == 0 { // most of what a sheet offers needs a value that is changed, and some a change that reaches other steps
		press("y")
		for range o.IntN(4) {
			press("tab")
		}
	}
	for range 8 {
		if m.Sheet == nil {
			return
		}
		o.size([]int{120, 80, 60}[o.IntN(3)])
		if o.IntN(2) == 0 {
			press(o.pick("down", "down", "up", "y", "backspace", "1", "="))
			continue
		}
		tips := m.Sheet.Keys(m.Screen(), m.Width < 90)
		k := tips[o.IntN(len(tips))]
		if again := slices.IndexFunc(tips, func(k overlay.HintKey) bool { return k.Key == "ctrl+r" }); again >= 0 && o.IntN(3) == 0 {
			k = tips[again] // it is seldom offered: something that the values would change must be done already
		}
		if k.Key == "ctrl+e" || k.Key == "esc" && o.IntN(3) > 0 {
			continue
		}
		pressed["sheet "+k.Key]++
		o.log = append(o.log, "sheet:"+k.Key)
		o.sc.press(k.Key)
		o.quiet(offeredKey{where: "sheet", key: k.Key, w: m.Width})
		o.Settle()
		o.quiet(offeredKey{where: "sheet", key: k.Key, w: m.Width})
	}
}

// edit changes the playbook, as an editor would that was opened by E.
func (o *offering) edit() {
	if o.run.Counts.Running > 0 {
		return // it is refused then, and the sentence says so
	}
	o.edits++
	o.log = append(o.log, "edit")
	file := filepath.Join(o.dir, "site.yml")
	have, err := os.ReadFile(file)
	if err != nil {
		o.t.Fatal(err)
	}
	lines := strings.Split(string(have), "\n")
	var tasks []int
	for i, line := range lines {
		if strings.Contains(line, "- name: n") {
			tasks = append(tasks, i)
		}
	}
	if len(tasks) == 0 {
		return
	}
	at := tasks[o.IntN(len(tasks))]
	if o.IntN(2) == 0 {
		lines[at+1] = strings.Replace(lines[at+1], ": \"", fmt.Sprintf(": \"does e%d ", o.edits), 1)
	} else {
		indent, _, _ := strings.Cut(lines[at], "-")
		o.ids++
		lines = slices.Insert(lines, at, fmt.Sprintf("%s- name: n%d", indent, o.ids), fmt.Sprintf("%s  shell: \"does n%d\"", indent, o.ids))
	}
	o.write("site.yml", strings.Join(lines, "\n"))
	o.sc.Send(edited{})
	o.Settle()
}
