package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"moon/engine"
	"moon/engine/graph"
	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/internal/assault"
	"moon/plan"
)

// losses is a run with everything that is stored: large output that is a value, large values, output that is none, a loop whose items
// the run finds, so that it gets another plan, a failure that is made good, and exports.
const losses = `
exports: { big: "{{ big | length }}", two: "{{ two }}" }
steps:
- shell: large 20000
  register: r
- set_fact: { big: "{{ r.stdout }}", two: "{{ r.stdout | length * 2 }}" }
- shell: line {{ item }}
  loop: "{{ range(1, r.stdout | length // 3333 + 1) | list }}"
- block:
    - shell: bad {{ two }}
  rescue:
    - shell: good
- shell: silent
  loop: "{{ range(0, 160) | list }}"
- shell: last {{ big | length }}
`

// change is one of the recorded ones, or a promise: from then on a record must survive.
type change struct {
	journal.Op
	promise string
}

// recorder writes down what is done to the files of a run, in order, with what was promised in between.
type recorder struct {
	mu      sync.Mutex
	dir     string // of the run, as soon as it is known
	changes []change
	printed map[string]int // how much of each output file is written down
}

func (r *recorder) watch(op journal.Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op.Kind == journal.OpCreate && filepath.Base(op.Path) == "journal.jsonl" {
		r.dir = filepath.Dir(op.Path)
	}
	r.lookAtOutput()
	op.Data = slices.Clone(op.Data)
	r.changes = append(r.changes, change{Op: op})
	return nil
}

// lookAtOutput writes down what steps have printed since the last change.
func (r *recorder) lookAtOutput() {
	dir := filepath.Join(r.dir, "out")
	files, _ := os.ReadDir(dir) // it is not there from the beginning
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		text, err := os.ReadFile(path)
		had, known := r.printed[path]
		if err != nil || known && len(text) == had {
			continue
		}
		if !known {
			r.changes = append(r.changes, change{Op: journal.Op{Kind: journal.OpCreate, Path: path}})
		}
		r.changes = append(r.changes, change{Op: journal.Op{Kind: journal.OpWrite, Path: path, Data: text[had:]}})
		r.printed[path] = len(text)
	}
}

func (r *recorder) promise(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, change{promise: fmt.Sprintf(format, args...)})
}

// promising is a Runner that promises what the journal must know before a process is started: that it is, and that
// everything before it has ended. It is for one step at a time.
type promising struct {
	*recorder
	do    func(context.Context, *exec.Job) exec.Result
	ended []string
}

func (p *promising) Run(ctx context.Context, job *exec.Job) exec.Result {
	if job.Action == "shell" {
		p.promise("started %s", cmdOf(job))
	}
	for _, name := range p.ended {
		p.promise("ended %s", name)
	}
	p.ended = nil // what was promised stays so
	r := p.do(ctx, job)
	if job.Action == "shell" {
		p.ended = append(p.ended, cmdOf(job))
	}
	return r
}

// record runs the reference in root, or goes on with the run in dir, and writes everything down.
func record(t *testing.T, root, dir string, p *plan.Plan, g *graph.Graph) *recorder {
	t.Helper()
	rec := &recorder{dir: dir, printed: map[string]int{}}
	runner := &promising{recorder: rec, do: func(_ context.Context, job *exec.Job) exec.Result {
		if job.Action == "set_fact" {
			return exec.Result{Outcome: events.OK, Values: job.Raw}
		}
		word, size, _ := strings.Cut(cmdOf(job), " ")
		n, _ := strconv.Atoi(size) // most print nothing
		fmt.Fprint(job.Output.Stdout(), strings.Repeat("x", n))
		if rc := 0; word != "bad" {
			return exec.Result{Outcome: events.OK, RC: &rc}
		}
		rc := 1
		return exec.Result{Outcome: events.Failed, RC: &rc, Error: "exit status 1"}
	}}
	cfg := engine.Config{
		Plan: p, Graph: g, Runner: runner, Dry: runner, Runs: filepath.Join(root, "moon", "runs"),
		Options: fact.Options{Forks: 1, OnFailure: fact.Drain}, Disk: journal.Disk{Watch: rec.watch},
	}
	var s *engine.Session
	var err error
	if dir == "" {
		s, err = engine.Start(cfg)
	} else {
		rec.lookAtOutput()
		rec.changes = nil // that is what there was
		s, err = engine.Resume(cfg, engine.Resumption{
			Dir: dir, Lost: fact.LostRetry, RetryFailed: true,
			Planned: (&survivor{p: p, g: g}).planned(dir),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	follow(t, s, rec)
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	return rec
}

// follow reads a run to its end, and writes down what is published as promises.
func follow(t *testing.T, s *engine.Session, rec *recorder) (result events.RunCompleted) {
	t.Helper()
	feed, followed := s.Follow(context.Background(), false)
	for batch := range feed {
		for _, r := range batch {
			switch e := r.Event.(type) {
			case events.RunStarted:
				rec.promise("run.started")
			case events.StepCompleted:
				rec.promise("ended %s", e.Name)
			case events.StepFailed:
				rec.promise("ended %s", e.Name)
			case events.RunCompleted:
				rec.promise("run.finished")
				if e.Outcome == events.RunDone {
					rec.promise("exported %v", e.Exports)
				}
				result = e
			}
		}
	}
	if err := followed(); err != nil {
		t.Error(err)
	}
	return result
}

// tree is a file system: what is at each path. Directories are nil.
type tree map[string]*[]byte

func treeOf(t *testing.T, root string) tree {
	t.Helper()
	tr := tree{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			tr[path] = nil
			return err
		}
		text, err := os.ReadFile(path)
		tr[path] = &text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// after gives the file system after the changes, but without those that skip names and with the last of them torn, if
// torn is not negative. A name in a directory that is not there is not there either.
func (tr tree) after(changes []change, skip func(i int) bool, torn int) tree {
	to := maps.Clone(tr)
	for path, text := range to {
		if text != nil {
			text := slices.Clone(*text)
			to[path] = &text
		}
	}
	lost := map[string]*[]byte{} // files without a name: their directory entry was never written
	for i, c := range changes {
		dropped := skip(i)
		file := to[c.Path]
		if file == nil {
			file = lost[c.Path]
		}
		_, there := to[filepath.Dir(c.Path)]
		switch c.Kind {
		case journal.OpMkdir:
			if !dropped && there {
				to[c.Path] = nil
			}
		case journal.OpCreate:
			if dropped || !there {
				lost[c.Path] = new([]byte)
			} else {
				to[c.Path] = new([]byte)
			}
		case journal.OpRename:
			if !dropped {
				if _, named := to[c.Path]; named {
					to[c.To] = file
				} else {
					lost[c.To] = file
				}
				delete(to, c.Path)
			}
		case journal.OpWrite:
			data := c.Data
			if torn >= 0 && i == len(changes)-1 {
				data = data[:torn]
			}
			if !dropped {
				*file = append(*file, data...)
			}
		case journal.OpTruncate:
			if !dropped {
				*file = (*file)[:c.Size]
			}
		case journal.OpSync, journal.OpSyncDir:
		}
	}
	return to
}

// unsynced are the changes that a loss of power may undo.
func unsynced(changes []change) []int {
	var open []int
	for i, c := range changes {
		switch c.Kind {
		case journal.OpMkdir, journal.OpCreate, journal.OpRename, journal.OpWrite, journal.OpTruncate:
			open = append(open, i)
		case journal.OpSync:
			open = slices.DeleteFunc(open, func(i int) bool {
				o := changes[i]
				return o.Path == c.Path && (o.Kind == journal.OpWrite || o.Kind == journal.OpTruncate)
			})
		case journal.OpSyncDir:
			open = slices.DeleteFunc(open, func(i int) bool {
				o := changes[i]
				return filepath.Dir(o.Path) == c.Path && (o.Kind == journal.OpMkdir || o.Kind == journal.OpCreate || o.Kind == journal.OpRename)
			})
		}
	}
	return open
}

// crashes goes through what a loss of power may leave behind: at each moment, without anything that was not synced, with
// all of it, without each single change, and with the last write torn at each sector. Of the moments after the beginning of a run only
// every stride-th is tried. Visit says whether to go on.
func crashes(from tree, changes []change, stride int, visit func(moment int, left tree) bool) {
	for moment := 1; moment <= len(changes); moment++ {
		past := changes[:moment]
		if past[moment-1].promise != "" || moment*stride > 3*len(changes) && moment%stride > 0 {
			continue // nothing happened to the files; or a sample is enough
		}
		open := unsynced(past)
		all := func(int) bool { return false }
		left := []tree{from.after(past, func(i int) bool { return slices.Contains(open, i) }, -1), from.after(past, all, -1)}
		for _, one := range open {
			left = append(left, from.after(past, func(i int) bool { return i == one }, -1))
		}
		if last := past[moment-1]; last.Kind == journal.OpWrite && filepath.Base(last.Path) == "journal.jsonl" {
			begin := len(*left[1][last.Path]) - len(last.Data)
			for at := (begin + 511) / 512 * 512; at < begin+len(last.Data); at += 512 {
				left = append(left, from.after(past, all, at-begin))
			}
		}
		for _, tr := range left {
			if !visit(moment, tr) {
				return
			}
		}
	}
}

// survivor reads what a loss of power has left behind.
type survivor struct {
	t    *testing.T
	p    *plan.Plan
	g    *graph.Graph
	root string // of the recorded paths
	run  string // below it
	dir  string // where it is laid out
	have tree   // what is there

	grown map[string]grown // plans that were read once
}

// layOut makes the files as they were left.
func (s *survivor) layOut(left tree) {
	s.t.Helper()
	at := func(path string) string { return filepath.Join(s.dir, strings.TrimPrefix(path, s.root)) }
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(s.have))) {
		if _, stays := left[path]; !stays {
			if err := os.RemoveAll(at(path)); err != nil {
				s.t.Fatal(err)
			}
			delete(s.have, path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(left)) {
		text, had := left[path], s.have[path]
		if text != nil && had != nil && bytes.Equal(*text, *had) {
			continue
		}
		var err error
		if text == nil {
			err = os.MkdirAll(at(path), 0o700)
		} else {
			err = os.WriteFile(at(path), *text, 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		s.have[path] = text
	}
	delete(s.have, filepath.Join(s.run, "journal.jsonl")) // what is torn is cut off
}

// planned gives the plans of a run. The first can be made from its playbook; what the run has found is nowhere but in what it has kept.
func (s *survivor) planned(dir string) func(digest string) (*plan.Plan, *graph.Graph, error) {
	return func(digest string) (*plan.Plan, *graph.Graph, error) {
		if digest == s.p.Digest {
			return s.p, s.g, nil
		}
		kept, err := engine.ReadKept(dir, digest)
		if err != nil {
			return nil, nil, err
		}
		if have, ok := s.grown[digest]; ok { // it is there, and whole
			return have.p, have.g, nil
		}
		p, g, err := kept.Plan(plan.Options{Facts: plan.KnownFacts{Here: map[string]any{}}})
		if err == nil && s.grown != nil {
			s.grown[digest] = grown{p, g}
		}
		return p, g, err
	}
}

// grown is a plan that was made in the run.
type grown struct {
	p *plan.Plan
	g *graph.Graph
}

// known is what the journal says, in the words of the promises. A run that cannot be gone on with says nothing.
func (s *survivor) known(left tree) (known map[string]bool, err error) {
	s.t.Helper()
	s.layOut(left)
	dir := filepath.Join(s.dir, strings.TrimPrefix(s.run, s.root))
	facts, err := engine.Recover(dir, s.planned(dir))
	if err != nil {
		return nil, err
	}
	return promisesIn(facts), nil
}

// promisesIn is what facts say, in the words of promises.
func promisesIn(facts []fact.Fact) map[string]bool {
	said, names := map[string]bool{}, map[int]string{}
	for _, f := range facts {
		switch f := f.(type) {
		case fact.RunStarted:
			said["run.started"] = true
		case fact.RunFinished:
			said["run.finished"] = true
		case fact.RunExported:
			said[fmt.Sprintf("exported %v", f.Values)] = true
		case fact.AttemptStarted:
			names[f.Step] = f.Name
			said["started "+f.Name] = true
		case fact.AttemptFinished:
			said["ended "+names[f.Step]] = true
		default:
		}
	}
	return said
}

// broken counts the states, and says in which a promise is broken: the first, where it stops, or "".
func (s *survivor) broken(from tree, changes []change, stride int) (states int, how string) {
	crashes(from, changes, stride, func(moment int, left tree) bool {
		states++
		how = s.breaks(changes[:moment], left)
		return how == ""
	})
	return states, how
}

// breaks says which promise what is left does not keep, or "".
func (s *survivor) breaks(past []change, left tree) string {
	known, err := s.known(left)
	for _, c := range past {
		if c.promise != "" && !known[c.promise] {
			return fmt.Sprintf("after change %d: not %q (%v), but %v", len(past), c.promise, err, slices.Sorted(maps.Keys(known)))
		}
	}
	return ""
}

// loses reports whether a promise is broken where nothing is left that was not synced. It begins at the end, where most was promised.
func (s *survivor) loses(from tree, changes []change) bool {
	for moment := len(changes); moment > 0; moment-- {
		past := changes[:moment]
		open := unsynced(past)
		if s.breaks(past, from.after(past, func(i int) bool { return slices.Contains(open, i) }, -1)) != "" {
			return true
		}
	}
	return false
}

// without leaves out the syncs that drop names.
func without(changes []change, drop func(journal.Op) bool) []change {
	return slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.promise == "" && drop(c.Op) })
}

// TestPowerLoss goes through what a loss of power at any moment of a run may leave behind, and of one that goes on after
// one: what moon has said or acted on is there. Without any one kind of sync it is not, or this test would show nothing.
// An assault takes every moment, and not only some.
func TestPowerLoss(t *testing.T) {
	stride := 12
	switch {
	case testing.Short():
		stride = 36
	case assault.All():
		stride = 1
	}
	p, g := build(t, losses)
	root := t.TempDir()
	rec := record(t, root, "", p, g)
	s := &survivor{t: t, p: p, g: g, root: root, run: rec.dir, dir: t.TempDir(), have: tree{}, grown: map[string]grown{}}
	begin := tree{root: nil}
	states, how := s.broken(begin, rec.changes, stride)
	if how != "" {
		t.Error(how)
	}
	in := func(op journal.Op, kind journal.OpKind, dir string) bool {
		return op.Kind == kind && filepath.Base(filepath.Dir(op.Path)) == dir
	}
	for name, drop := range map[string]func(journal.Op) bool{
		"all directories":               func(op journal.Op) bool { return op.Kind == journal.OpSyncDir },
		"the directory of moon":         func(op journal.Op) bool { return op.Kind == journal.OpSyncDir && op.Path == root },
		"the directory of the runs":     func(op journal.Op) bool { return in(op, journal.OpSyncDir, "moon") },
		"the directory of the run":      func(op journal.Op) bool { return in(op, journal.OpSyncDir, "runs") },
		"the journal":                   func(op journal.Op) bool { return in(op, journal.OpSync, filepath.Base(rec.dir)) },
		"large values":                  func(op journal.Op) bool { return in(op, journal.OpSync, "blobs") },
		"the directory of large values": func(op journal.Op) bool { return op.Kind == journal.OpSyncDir && filepath.Base(op.Path) == "blobs" },
		"plans that have grown":         func(op journal.Op) bool { return in(op, journal.OpSync, "plans") },
		"output that is a value":        func(op journal.Op) bool { return in(op, journal.OpSync, "out") },
		"the directory of output":       func(op journal.Op) bool { return op.Kind == journal.OpSyncDir && filepath.Base(op.Path) == "out" },
	} {
		if !s.loses(begin, without(rec.changes, drop)) {
			t.Errorf("without syncs of %s nothing is lost", name)
		}
	}

	// The same for a run that goes on after the power is back, with a torn record.
	path := filepath.Join(rec.dir, "journal.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:12], "")+lines[12][:20]), 0o600); err != nil {
		t.Fatal(err)
	}
	from := treeOf(t, root)
	more, how := s.broken(from, record(t, root, rec.dir, p, g).changes, stride)
	if how != "" {
		t.Errorf("resumed: %s", how)
	}
	assault.Tried(t, "states after a loss of power", states+more)
	t.Logf("%d states", states+more)
	if stride == 1 && states+more < 5000 {
		t.Errorf("only %d states", states+more)
	}
}
