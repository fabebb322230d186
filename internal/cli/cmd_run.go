package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"moon/engine"
	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/exec/agent"
	"moon/internal/termtext"
	"moon/plan"
)

// runFlags are the flags of the commands that run.
type runFlags struct {
	Forks     int    `short:"f" placeholder:"N" help:"How many steps may run at once; default 8 or the number of CPUs, whichever is larger."`
	OnFailure string `enum:",drain,continue,cancel,host" default:"" help:"What to do on failure: drain lets running steps finish (default), continue runs the steps that do not depend on it, host continues on the other hosts (default for plays), cancel interrupts."`
	Check     bool   `short:"C" aliases:"dry-run" help:"Dry run: show what would change; change nothing."`
	Diff      bool   `short:"D" help:"Show diffs of changed files."`
	Force     bool   `help:"Run steps with sources or generates even if they are up to date."`

	MaxResult byteSize `placeholder:"SIZE" help:"Largest output of a step that other steps may use, such as 64M; default 16M. A step that uses a larger one fails."`
}

func (f *runFlags) options() (fact.Options, error) {
	if f.Forks < 0 {
		return fact.Options{}, usage("--forks must be above 0")
	}
	forks := f.Forks
	if forks == 0 {
		forks = usualForks()
	}
	return fact.Options{Forks: forks, OnFailure: fact.Policy(f.OnFailure), Check: f.Check, Diff: f.Diff, Force: f.Force, MaxResult: int64(f.MaxResult)}, nil
}

// usualForks is how many steps run at once where nobody says how many.
func usualForks() int { return max(8, runtime.NumCPU()) }

type runCmd struct {
	savedFlags
	runFlags
	becomeFlags
	headlessFlags
	exportFlags
	listFlags
}

// headlessFlags are the flags of a run without the screen.
type headlessFlags struct {
	Output  []string `short:"o" sep:"none" default:"text" placeholder:"FORMAT[:FILE]" help:"text; json: events, one per line; github: text that folds, with annotations for failures, for GitHub Actions; junit: a report for CI servers; ansible: the format of ansible-playbook. May be given several times; only one may write to standard output, the others need :FILE."`
	Approve []string `sep:"none" placeholder:"STEP" help:"Approve steps that need confirmation: all, or as for --only."`
	Verbose bool     `short:"v" help:"Show the command of every step; with --output ansible, every result."`
}

func (c *runCmd) Run(io stdio) error {
	c.NoConnect = c.NoConnect || c.asked() && c.Saved == "" // for a list nobody is asked
	opts, err := c.options()
	if err != nil {
		return err
	}
	c.mode, c.approved = opts, !opts.Check && !c.asked()
	p, g, err := c.build(io)
	if err != nil {
		return err
	}
	if c.asked() {
		return c.list(io.out, p)
	}
	opts.Saved = c.Saved != ""
	return headless(io, p, g, opts, c.becomeFlags, c.headlessFlags, c.exportFlags)
}

// headless runs a plan without the screen. Everything is approved but what asks to be confirmed.
func headless(io stdio, p *plan.Plan, g *graph.Graph, opts fact.Options, bf becomeFlags, hf headlessFlags, ef exportFlags) error {
	outs, err := hf.outputs(opts.Diff)
	if err != nil {
		return err
	}
	if err := ef.check(p, opts); err != nil {
		return err
	}
	confirmed, err := confirm(p, hf.Approve)
	if err != nil {
		return err
	}
	if err := checkTerminal(p, opts.Check); err != nil {
		return err
	}
	s, lanes, err := start(io, p, g, opts, bf, approvals(confirmed)...)
	if err != nil {
		return err
	}
	defer lanes.Close()
	for i, t := range outs {
		if t.format == "text" && t.file == "" && isTerminal(io.out) {
			outs[i].usual = usual(s.Forecast(p.Digest))
		}
	}
	return attend(io, s, outs, ef)
}

// usual is how long a run takes that nobody keeps waiting, or "" where that is not known.
func usual(f *events.Forecast) string {
	if f == nil {
		return ""
	}
	whole, known := events.NewEstimate(*f).Left(time.Now())
	if !known {
		return ""
	}
	return events.About(whole)
}

// attend tells of a run without the screen, to its end.
func attend(io stdio, s *engine.Session, outs []target, ef exportFlags) (err error) {
	stop := onSignals(s, io.asker, nil, nil)
	defer stop()
	result, err := tell(context.Background(), io, s, s.OutDir(), outs)
	// A run that the disk has brought to its end says so, however it ended.
	return errors.Join(wrapDisk(s.Wait()), wrapDisk(err), exitOf(result), ef.write(s, result))
}

// drain lets a run end whose reader has gone.
func drain(feed <-chan []events.Record) {
	for range feed {
	}
}

// keepLast passes a feed on and remembers how the run ended.
func keepLast(feed <-chan []events.Record) (<-chan []events.Record, <-chan events.RunCompleted) {
	out, last := make(chan []events.Record), make(chan events.RunCompleted, 1)
	go func() {
		defer close(out)
		var result events.RunCompleted
		for batch := range feed {
			for _, r := range batch {
				if e, ok := r.Event.(events.RunCompleted); ok {
					result = e
				}
			}
			out <- batch
		}
		last <- result
	}()
	return out, last
}

func wrapDisk(err error) error {
	if err == nil {
		return nil
	}
	return &exit{exitDisk, err.Error()}
}

// exitOf is the exit code of a run's end, as an error.
func exitOf(r events.RunCompleted) error {
	switch r.Outcome {
	case events.RunDone:
		return nil
	case events.RunFailed:
		return failed(r)
	case events.RunStopped:
		return &exit{exitStopped, ""}
	case events.RunInterrupted:
		return &exit{exitInterrupted, ""}
	}
	return nil // the session says why it could not end
}

// sessions is what every session has in common.
var sessions = engine.Config{Runner: exec.Local{Lend: userTerminal.lend}, Dry: exec.DryRun{}, Version: Version}

// oracle foretells what a plan would do, to other machines only if it may connect to them.
func oracle(asker *exec.Asker, p *plan.Plan, lanes *agent.Lanes, connect, force bool, left func(int) bool) *engine.Oracle {
	records := ""
	if runs, err := runsDir(); err == nil {
		records = recordsDir(runs)
	}
	dry := lanes.Dry(exec.NewForesight())
	if !connect {
		dry = dry.Near()
	}
	return &engine.Oracle{Plan: p, Dry: dry, Records: records, Force: force, Left: left, Asker: asker}
}

// start begins a run in the user's run directory. The lanes are to be closed after it.
func start(io stdio, p *plan.Plan, g *graph.Graph, opts fact.Options, bf becomeFlags, first ...events.Order) (*engine.Session, *agent.Lanes, error) {
	runs, err := runsDir()
	if err != nil {
		return nil, nil, err
	}
	c := sessions
	c.Options = opts
	lanes, err := bf.runners(io, &c, p)
	if err != nil {
		return nil, nil, err
	}
	c.Plan, c.Graph, c.Runs, c.Records, c.Durations, c.States, c.Options, c.First = p, g, runs, recordsDir(runs), durationsDir(runs), statesDir(runs), opts, first
	catchSignals()
	s, err := engine.Start(c)
	if err != nil {
		dropSignals()
		lanes.Close()
		return nil, nil, &exit{exitDisk, withRoom(err)}
	}
	return s, lanes, nil
}

// withRoom is an error's text, with what to do about a disk that has no room for a run.
func withRoom(err error) string {
	if _, full := errors.AsType[*engine.RoomError](err); full {
		return err.Error() + "; nothing was run\n  make room there (moon prune removes old runs), or set XDG_STATE_HOME to a directory on another disk"
	}
	return err.Error()
}

// approvals are the commands that confirm steps.
func approvals(confirmed []events.Range) []events.Order {
	var orders []events.Order
	for _, r := range confirmed {
		orders = append(orders, events.Order{Actor: "--approve", Command: events.Approve{Range: r, Confirm: true}})
	}
	return orders
}

// recordsDir is where it is remembered what incremental steps were made from.
func recordsDir(runs string) string { return filepath.Join(filepath.Dir(runs), "sources") }

// durationsDir is where it is remembered how long steps took.
func durationsDir(runs string) string { return filepath.Join(filepath.Dir(runs), "durations") }

// statesDir is where it is remembered what runs of each playbook have made.
func statesDir(runs string) string { return filepath.Join(filepath.Dir(runs), "state") }

// confirm finds the steps that --approve confirms. A step that asks and is not among them stops everything before it
// starts: without a person there is nobody to ask.
func confirm(p *plan.Plan, selectors []string) ([]events.Range, error) {
	confirmed, open, err := confirmations(p, selectors)
	if err == nil && len(open) > 0 {
		err = usage("these steps ask to be confirmed:\n%s\napprove them with --approve all or --approve ID, or run `moon tui`; nothing was run", strings.Join(open, "\n"))
	}
	return confirmed, err
}

// confirmations are the steps that ask: those that selectors confirm, and lines about the others.
func confirmations(p *plan.Plan, selectors []string) (confirmed []events.Range, open []string, err error) {
	approved := map[int]bool{}
	for _, selector := range selectors {
		found := p.Match(selector)
		if len(found) == 0 && selector != "all" {
			message, hint := p.NoMatch(selector)
			return nil, nil, usage("--approve: %s\n  hint: %s", message, hint)
		}
		for _, step := range found {
			approved[step] = true
		}
	}
	all := slices.Contains(selectors, "all")
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Confirm == "" || s.Excluded || s.Prediction == plan.WillSkip {
			continue
		}
		if all || approved[i] {
			confirmed = append(confirmed, events.Range{From: i, To: i + 1})
			continue
		}
		open = append(open, fmt.Sprintf("  %s  %s  (%s)\n    %s", s.ID(), termtext.CleanName(s.Title()), s.Origin, termtext.CleanName(s.Confirm)))
	}
	return confirmed, open, nil
}
