package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"moon/engine"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/remote"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/selector"
)

// HeadlessRequest is a run without the TUI.
type HeadlessRequest struct {
	Options   fact.Options
	Outputs   []string // FORMAT or FORMAT:FILE
	Verbose   bool
	Approve   []string // what of the steps that need confirmation is approved: selectors, or all
	Passwords BecomePasswords
	Exports   ExportFile
	ExitCode  bool // of a dry run: how it ends says whether something would change

	Started func(run string) // is given the id of the run; may be nil
}

// Check refuses what could only fail in the run, or would have to ask there.
func (req *HeadlessRequest) Check(p *plan.Plan) error {
	_, _, err := req.prepare(p)
	return err
}

// prepare finds out who is given the report, and what is confirmed.
func (req *HeadlessRequest) prepare(p *plan.Plan) (outs []target, confirmed []events.Range, err error) {
	if outs, err = ParseOutputs(req.Outputs, req.Verbose, req.Options.Diff); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(req.Exports.Check(p, req.Options), req.Exports.checkOutputs(outs)); err != nil {
		return nil, nil, err
	}
	if confirmed, err = confirm(p, req.Approve); err != nil {
		return nil, nil, err
	}
	return outs, confirmed, CheckTerminal(p, req.Options.Check)
}

// Headless runs a plan without the screen. Everything is approved but what asks to be confirmed.
func Headless(call *Invocation, p *plan.Plan, g *graph.Graph, req HeadlessRequest) error {
	opts := req.Options
	opts.Expanded, opts.Confirmed = ApprovesExpanded(req.Approve), ApprovesAll(req.Approve)
	outs, confirmed, err := req.prepare(p)
	if err != nil {
		return err
	}
	s, pool, err := Start(call, p, g, opts, req.Passwords, Approvals(confirmed)...)
	if err != nil {
		return err
	}
	defer pool.Close()
	if req.Started != nil {
		req.Started(s.ID())
	}
	for i, t := range outs {
		if t.format == "text" && t.file == "" && IsTerminal(call.Out) {
			outs[i].usual = usual(s.Forecast(p.Digest))
		}
	}
	changes, err := attend(call, s, outs, req.Exports)
	if req.ExitCode {
		return Detailed(err, changes)
	}
	return err
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

// Attend tells of a run without the screen, to its end.
func Attend(call *Invocation, s *engine.Session, outs []target, exports ExportFile) error {
	_, err := attend(call, s, outs, exports)
	return err
}

func attend(call *Invocation, s *engine.Session, outs []target, exports ExportFile) (changes bool, err error) {
	stop := call.Signals.Control(s, call.Asker, nil, nil)
	defer stop()
	to := call
	if exports.toStdout() { // which is for the values alone
		c := *call
		c.Out, to = call.Err, &c
	}
	end, err := follow(context.Background(), to, s, s.OutDir(), outs)
	// A run that the disk has brought to its end says so, however it ended.
	return end.changes, errors.Join(WrapDisk(s.Wait()), WrapDisk(err), ExitOf(end.result), exports.Write(call, end.result))
}

// Drain lets a run end whose reader has gone.
func Drain(feed <-chan []events.Record) {
	for range feed {
	}
}

// feedEnd is how a run ended, and whether something in it has changed, or may.
type feedEnd struct {
	result  events.RunCompleted
	changes bool
}

// keepLast passes a feed on and remembers how the run ended.
func keepLast(feed <-chan []events.Record) (<-chan []events.Record, <-chan feedEnd) {
	out, last := make(chan []events.Record), make(chan feedEnd, 1)
	go func() {
		defer close(out)
		var end feedEnd
		for batch := range feed {
			for _, r := range batch {
				switch e := r.Event.(type) { //nolint:gochecksumtype // the rest says nothing of changes
				case events.RunCompleted:
					end.result = e
				case events.StepCompleted:
					end.changes = end.changes || e.Changed || e.MayChange
				}
			}
			out <- batch
		}
		end.changes = end.changes || end.result.Open > 0
		last <- end
	}()
	return out, last
}

// NewPredictor predicts what a plan would do, to other machines only if it may connect to them.
func NewPredictor(asker *process.Asker, p *plan.Plan, pool *remote.Pool, connect, force bool, left func(int) bool) *engine.Predictor {
	records := ""
	if state, err := StateDir(); err == nil {
		records = state.Sources()
	}
	dry := pool.Dry(fsys.NewOverlay())
	if !connect {
		dry = dry.Near()
	}
	return &engine.Predictor{Plan: p, Dry: dry, Records: records, Force: force, Left: left, Asker: asker}
}

// Start begins a run in the user's run directory. The connections are to be closed after it.
func Start(call *Invocation, p *plan.Plan, g *graph.Graph, opts fact.Options, passwords BecomePasswords,
	first ...events.Order,
) (*engine.Session, *remote.Pool, error) {
	state, err := StateDir()
	if err != nil {
		return nil, nil, err
	}
	c := call.Session
	c.Options = opts
	pool, err := passwords.Runners(call, &c, p)
	if err != nil {
		return nil, nil, err
	}
	c.Plan, c.Graph, c.Runs, c.Records = p, g, state.Runs(), state.Sources()
	c.Durations, c.States, c.Options, c.First = state.Durations(), state.Resources(), opts, first
	c.Exports = state.Exports()
	// Before the first step: a signal from here on is for the run.
	call.Signals.Catch()
	s, err := engine.Start(c)
	if err != nil {
		call.Signals.Drop()
		pool.Close()
		if _, busy := errors.AsType[*history.BusyError](err); busy { // whoever may wait does so
			return nil, nil, err
		}
		return nil, nil, refusedStart(err)
	}
	return s, pool, nil
}

// WithRoom is an error's text, with what to do about a disk that has no room for a run.
func WithRoom(err error) string {
	if _, full := errors.AsType[*engine.RoomError](err); full {
		return err.Error() + "; nothing was run\n  make room there (moon prune removes old runs), or set XDG_STATE_HOME to a directory on another disk"
	}
	return err.Error()
}

// Approvals are the commands that confirm steps.
func Approvals(confirmed []events.Range) []events.Order {
	var orders []events.Order
	for _, r := range confirmed {
		orders = append(orders, events.Order{Actor: "--approve", Command: events.Approve{Range: r, Confirm: true}})
	}
	return orders
}

// confirm finds the steps that --approve confirms. A step that asks and is not among them stops everything before it
// starts: without a person there is nobody to ask.
func confirm(p *plan.Plan, selectors []string) ([]events.Range, error) {
	confirmed, open, err := Confirmations(p, selectors)
	if err == nil && len(open) > 0 {
		err = Usage("these steps ask to be confirmed:\n%s\napprove them with --approve all or --approve ID, or run `moon tui`; nothing was run", strings.Join(open, "\n"))
	}
	return confirmed, err
}

// The words of --approve that are no selectors.
const (
	approveAll      = "all"
	approveExpanded = "expanded"
)

// ApprovesExpanded reports whether --approve approves the steps that the run adds to the plan.
func ApprovesExpanded(selectors []string) bool { return slices.Contains(selectors, approveExpanded) }

// ApprovesAll reports whether --approve confirms all that asks.
func ApprovesAll(selectors []string) bool { return slices.Contains(selectors, approveAll) }

// approvedSteps are the steps that --approve names, or all.
func approvedSteps(p *plan.Plan, selectors []string) (steps map[int]bool, all bool, err error) {
	steps = map[int]bool{}
	for _, text := range selectors {
		found := selector.Match(p, text)
		if len(found) == 0 && text != approveAll && text != approveExpanded {
			message, hint := selector.NoMatch(p, text)
			return nil, false, Usage("--approve: %s\n  hint: %s", message, hint)
		}
		for _, step := range found {
			steps[step] = true
		}
	}
	return steps, ApprovesAll(selectors), nil
}

// ReviewApprovals are the commands for what --approve approves before a review begins.
func ReviewApprovals(p *plan.Plan, selectors []string) ([]events.Order, error) {
	steps, all, err := approvedSteps(p, selectors)
	switch {
	case err != nil:
		return nil, err
	case all:
		return Approvals([]events.Range{{To: len(p.Steps)}}), nil
	}
	return Approvals(events.RangesOf(slices.Sorted(maps.Keys(steps)))), nil
}

// Confirmations are the steps that ask: those that selectors confirm, and lines about the others.
func Confirmations(p *plan.Plan, selectors []string) (confirmed []events.Range, open []string, err error) {
	approved, all, err := approvedSteps(p, selectors)
	if err != nil {
		return nil, nil, err
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		question := s.Confirm
		if s.Place != nil { // its rounds ask
			question = s.Place.Confirm
		}
		if question == "" || s.Excluded || s.Prediction == plan.WillSkip {
			continue
		}
		// Certain people confirm it in the run, and a flag is none of them. But a caller who names the step lets the run wait for them.
		if all || approved[i] {
			confirmed = append(confirmed, events.Range{From: i, To: i + 1})
			continue
		}
		open = append(open, fmt.Sprintf("  %s  %s  (%s)\n    %s", s.ID(), termtext.CleanName(s.Title()), s.Origin,
			termtext.CleanName(s.Confirmers.Asked(question, nil))))
	}
	return confirmed, open, nil
}

// CheckTerminal refuses a run whose interactive steps would find no terminal.
func CheckTerminal(p *plan.Plan, check bool) error {
	why := process.NoTerminal()
	if why == "" {
		return nil
	}
	var steps []string
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Terminal && !s.Excluded && s.Prediction != plan.WillSkip && !s.Dry(check) {
			steps = append(steps, fmt.Sprintf("  %s  %s  (%s)", s.ID(), termtext.CleanName(s.Title()), s.Origin))
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return Usage("these steps are interactive:\n%s\nand %s; run moon in a terminal, or exclude them with --skip; nothing was run",
		strings.Join(steps, "\n"), why)
}
