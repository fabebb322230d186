package cli

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"moon/engine"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/internal/app"
	"moon/internal/app/statedir"
	"moon/internal/build"
	"moon/internal/cli/nearby"
	"moon/plan"
	"moon/plan/show"
	"moon/tui/status"
)

// resumeCmd goes on with a run.
type resumeCmd struct {
	Which string `arg:"" optional:"" name:"run" help:"The run or a unique prefix of its name; default the latest. moon runs lists them."`
	planFlags
	becomeFlags   `group:"passwords"`
	headlessFlags `group:"output"`
	exportFlags   `group:"output"`
	screenFlags   `group:"screen"`
	uiFlags       `group:"screen"`
	Lost          string `group:"resume" enum:"ask,retry,ok,fail" default:"ask" help:"How to treat a step that was running when moon crashed or its host went away: retry runs it again, ok and fail mark it as done or failed. The TUI asks."`
	Changed       string `group:"resume" enum:"ask,rerun,keep" default:"ask" help:"What to do with steps that succeeded but whose definition has changed since: rerun runs them again, keep keeps their results. The TUI asks."`
	AllowStale    bool   `group:"resume" help:"Resume from a saved plan although its files have changed since."`
	RetryFailed   bool   `group:"resume" help:"Run failed steps again. In the TUI you decide."`
	NoTUI         bool   `group:"screen" name:"no-tui" help:"Run non-interactively, also in a terminal."`

	WaitLock time.Duration `group:"resume" placeholder:"TIME" help:"If another run of the playbook works on the same hosts, wait so long for it to end."`

	MaxResult byteSize       `group:"resume" placeholder:"SIZE" help:"Change the limit for the output of a step that other steps may use, such as 64M."`
	repeats   bool           // it may be run again from the TUI
	watching  bool           // as of tuiCmd
	Timeout   *time.Duration `group:"resume" placeholder:"TIME" help:"Change how long the run may take. What it took before counts, unless that time was over."`
}

// Help says what runs again.
func (resumeCmd) Help() string {
	return `Plans the playbook as it is now, with the flags of the run, and continues where the run ended. Steps that have succeeded do not
run again.

  moon resume
  moon resume 20261102 --retry-failed
  moon resume --no-tui --lost retry --changed rerun`
}

func (c *resumeCmd) Run(call *app.Invocation) error {
	return app.WhenFree(call, c.WaitLock, func() error { return c.once(call) })
}

func (c *resumeCmd) once(call *app.Invocation) error {
	past, err := pastRun(c.Which)
	if err != nil {
		return app.Usage("%s", err)
	}
	onScreen := !c.NoTUI && c.noUI() == ""
	c.approved = !onScreen && !past.Options.Check
	// Planned before the terminal is touched, so that errors stay readable.
	now, err := c.planned(call, past)
	if err != nil {
		return err
	}
	if onScreen {
		if err := c.settle(call); err != nil {
			return err
		}
	}
	opts := past.Options
	opts.MaxResult = cmp.Or(int64(c.MaxResult), opts.MaxResult)
	if c.Timeout != nil && *c.Timeout <= 0 {
		return app.Usage("--timeout must be above 0")
	}
	if c.Timeout != nil {
		opts.Timeout = *c.Timeout
	}
	// How a run is shown may differ from the run that it continues. What it does may not: the other options are kept.
	opts.Review, opts.BreakOnFailure, opts.KeepOpen = onScreen, onScreen, onScreen
	opts.Expanded = opts.Expanded || app.ApprovesExpanded(c.Approve)
	opts.Confirmed = !onScreen && app.ApprovesAll(c.Approve)
	how := engine.Resumption{Dir: past.Dir, Lost: fact.LostAs(c.Lost), RetryFailed: c.RetryFailed, Planned: now.by}
	switch {
	case onScreen:
		// The review asks before anything runs, so nothing is repeated unseen.
		how.Lost = fact.LostRetry
	case c.Lost == "ask":
		how.Lost = ""
	}
	if c.Changed != "ask" {
		how.Changed = fact.ChangedAs(c.Changed)
	}
	var confirmed []events.Range
	outs, err := app.ParseOutputs(c.Output, c.Verbose, opts.Diff)
	if err != nil {
		return err
	}
	exports := c.exportFile()
	if err := exports.Check(now.plan, opts); err != nil {
		return err
	}
	// Without a screen every decision must be given by a flag, now.
	if !onScreen {
		if confirmed, _, err = app.Confirmations(now.plan, c.Approve); err != nil {
			return err
		}
		how.Confirmed = confirmed
		if err := app.CheckTerminal(now.plan, opts.Check); err != nil {
			return err
		}
	}
	config, state := call.Session, statedir.Of(past.Dir)
	config.Plan, config.Graph, config.Records = now.plan, now.graph, state.Sources()
	config.Durations, config.Options, config.First = state.Durations(), opts, app.Approvals(confirmed)
	if onScreen {
		if config.First, err = app.ReviewApprovals(now.plan, c.Approve); err != nil {
			return err
		}
	}
	config.States, config.Exports = state.Resources(), state.Exports()
	passwords := c.becomePasswords()
	pool, err := passwords.Runners(call, &config, now.plan)
	if err != nil {
		return err
	}
	defer pool.Close()
	// From here on a signal stops the run, which is about to begin.
	call.Signals.Catch()
	s, err := engine.Resume(config, how)
	if err != nil {
		call.Signals.Drop()
		return now.refusal(past, err)
	}
	if onScreen {
		t := tuiCmd{
			headlessFlags: headlessFlags{Verbose: c.Verbose}, runFlags: runFlags{Check: opts.Check, Diff: opts.Diff},
			screenFlags: c.screenFlags, uiFlags: c.uiFlags, exportFlags: c.exportFlags, fixed: opts.Saved,
			again: func(*app.Invocation) (plan.Options, error) { return now.again, nil }, notice: now.edited,
			others: status.OtherFilesOf(now.earlier(past), now.plan), repeats: c.repeats, watching: c.watching,
		}
		return t.screen(call, s, pool, now.plan)
	}
	return app.Attend(call, s, outs, exports)
}

// resumable is what a run goes on with.
type resumable struct {
	plan   *plan.Plan
	graph  *graph.Graph
	again  plan.Options // plan the playbook as it is then
	edited string       // what is different in the playbook, in a line
	by     func(digest string) (*plan.Plan, *graph.Graph, error)
}

// planned gives the plan to go on with: that of the playbook as it is now with the flags of then, but for a run of a saved
// plan, which keeps to it. What an edit changes is printed.
func (c *resumeCmd) planned(call *app.Invocation, past history.Past) (r resumable, err error) {
	here, err := thisMachine(call, c.vaultPasswords())
	if err != nil {
		return r, err
	}
	here.MaxSteps, here.MaxExpansion = c.MaxSteps, c.MaxExpansion
	c.mode = past.Options
	c.called(&here)
	t, err := call.Truster(c.TrustPlugins || c.approved)
	if err != nil {
		return r, err
	}
	c.reachable(&here, call, t)
	kept, err := engine.ReadKept(past.Dir, past.Digest)
	// A run that could not keep its sources plans again from its flags.
	if _, lost := errors.AsType[*engine.NotKeptError](err); lost {
		return c.byFlags(call, past)
	}
	if err != nil {
		return r, app.NewExit(app.ExitDisk, err.Error())
	}
	before := &engine.Remade{Make: func(digest string, other *plan.Plan) (*plan.Plan, *graph.Graph, error) {
		k, err := engine.ReadKept(past.Dir, digest)
		if err != nil {
			return nil, nil, err
		}
		return k.PlanFrom(cmp.Or(other, r.plan), here)
	}}
	r.by = func(digest string) (*plan.Plan, *graph.Graph, error) {
		// A run may have had several plans. The one that was just made need not be made again.
		if r.plan != nil && digest == r.plan.Digest {
			return r.plan, r.graph, nil
		}
		return before.By(digest)
	}
	// The names are kept, so that the person knows what to give again.
	if names := kept.Sources.Withheld(); len(names) > 0 {
		fmt.Fprintf(call.Err, "values given for this run were secret, and are not kept: %s; give them again (e in the TUI, or -e)\n",
			strings.Join(names, ", "))
	}
	if paths := kept.Sources.Hidden(); len(paths) > 0 {
		return r, app.Usage("%s cannot be resumed: the items of %s were secret or hidden by no_log, and are not kept; run the playbook again",
			past.ID, strings.Join(paths, ", "))
	}
	r.again = c.override(kept.Sources.Options(kept.Root, here), here.Dir)
	if err := c.overrideHosts(&r.again, here.Dir); err != nil {
		return r, err
	}
	found, err := c.find(call, kept.Root, &r.again)
	if err != nil {
		return r, err
	}
	call.Session.Ask = app.Plugins{Of: &plan.Options{Plugins: found}, Dir: kept.Root, Moon: build.Version}.Asker(call)
	here.Plugins, r.again.Plugins, here.Outside.TrustsFiles = found, found, r.again.Outside.TrustsFiles
	askTrust(call, r.again)
	switch {
	case past.Options.Saved:
		// A playbook from standard input exists only in the run.
		return r, c.plannedSaved(past, kept, here, &r)
	// Standard input cannot be read again: the playbook of then is all there is.
	case r.again.Path == "-":
		r.plan, r.graph, err = kept.Plan(here)
	default:
		if err := c.plannedAgain(call, past, &r); err != nil {
			return r, err
		}
		return r, refuseUntrusted(r.plan)
	}
	if err != nil {
		return r, app.Usage("%s: %s", past.ID, err)
	}
	return r, c.checkPlugins(r.plan)
}

// plannedSaved goes on with the plan that was saved, as it was saved. What the run itself has changed since is no reason not to.
func (c *resumeCmd) plannedSaved(past history.Past, kept *engine.Kept, here plan.Options, r *resumable) (err error) {
	if r.plan, r.graph, err = kept.Plan(here); err != nil {
		return app.Usage("%s: %s", past.ID, err)
	}
	if err = r.adopt(past, &here); err != nil {
		return err
	}
	// --allow-stale takes what was saved in the place of what is there now. What was not saved it cannot bring back.
	name := "the saved plan of " + past.ID
	here.Outside.StoredFacts = nil // the run itself keeps others
	stale, lost := kept.Sources.Stale(kept.Root, here), kept.Sources.Unsaved(kept.Root, here)
	switch {
	case len(stale) > 0 && !c.AllowStale:
		return isStale(name, stale, len(lost) == 0)
	case len(lost) > 0:
		return notSaved(name, lost)
	case len(stale) > 0:
		r.plan.TakeAsSaved()
	}
	return c.checkPlugins(r.plan)
}

// adopt gives options what engine.Adopt makes of a past run. That a plan of the run cannot be had any more is no fault of the disk.
func (r *resumable) adopt(past history.Past, o *plan.Options) (err error) {
	var unkept error
	o.Reads, err = engine.Adopt(past, func(digest string) (*plan.Plan, error) {
		p, err := r.planOf(digest)
		if err != nil {
			unkept = app.Usage("%s: what the run itself has changed cannot be known: %s; start a new run", past.ID, err)
		}
		return p, err
	})
	switch {
	case unkept != nil:
		return unkept
	case err != nil:
		return app.NewExit(app.ExitDisk, err.Error())
	}
	return nil
}

// earlier are the plans that the run had before, oldest first. One that cannot be made again is left out: the TUI only compares with it.
func (r *resumable) earlier(past history.Past) iter.Seq[*plan.Plan] {
	return func(yield func(*plan.Plan) bool) {
		for _, digest := range past.Digests {
			if digest == r.plan.Digest {
				continue
			}
			if p, err := r.planOf(digest); err == nil && !yield(p) {
				return
			}
		}
	}
}

// planOf is a plan that the run had, by its digest.
func (r *resumable) planOf(digest string) (*plan.Plan, error) {
	p, _, err := r.by(digest)
	return p, err
}

// plannedAgain plans the playbook as it is now.
func (c *resumeCmd) plannedAgain(call *app.Invocation, past history.Past, r *resumable) error {
	p, g, ds := engine.Build(r.again)
	if left, ok := errors.AsType[*app.Exit](c.unanswered); ok {
		return left
	}
	flags := playbookFlags{planFlags: c.planFlags}
	here := r.again
	if dir, err := os.Getwd(); err == nil {
		here.Dir = dir
	}
	if err := flags.complain(call, p, nearby.FromHere(here, ds)); err != nil {
		return err
	}
	// The questions were answered for this plan; a reload must not ask them again.
	r.again.Values.Answers, r.again.Outside.Ask = p.Answers(), noForm
	if p.Digest == past.Digest {
		r.plan, r.graph = p, g
		return nil
	}
	then, _, err := r.by(past.Digest)
	if err != nil {
		return app.Usage("%s: the playbook was edited, and %s", past.ID, err)
	}
	if err = r.adopt(past, &r.again); err != nil {
		return err
	}
	if own, ownGraph, _ := engine.Build(r.again); own != nil { // what the run has changed itself is no edit
		p, g = own, ownGraph
	}
	r.plan, r.graph = p, g
	if p.Digest == past.Digest {
		return nil
	}
	old, err := show.ComparableOf(then)
	if err != nil {
		return err
	}
	now, err := show.ComparableOf(p)
	if err != nil {
		return err
	}
	fmt.Fprintf(call.Err, "the playbook was edited since %s; what is done keeps its result\n", past.ID)
	edits := show.Diff(old, now)
	r.edited = changedSince(edits)
	return edits.Write(call.Err, call.Width())
}

// changedSince says in a line what is different from the plan that a run had, and in which files.
func changedSince(d *show.Difference) string {
	const named = 2
	var files, counts []string
	for _, in := range d.Inputs {
		files = append(files, in.Field)
	}
	if more := len(files) - named; more > 0 {
		files = append(files[:named], fmt.Sprintf("%d more", more))
	}
	for _, c := range []struct {
		n    int
		word string
	}{{len(d.Changed), "changed"}, {len(d.Added), "added"}, {len(d.Removed), "removed"}, {len(d.Moved), "moved"}} {
		if c.n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	if len(counts) == 0 {
		counts = []string{"no step changed"}
	}
	what := "the plan"
	if len(files) > 0 {
		what = strings.Join(files, ", ")
	}
	return what + " changed since: " + strings.Join(counts, ", ")
}

// byFlags is for a run that does not keep what its plan was made from: the same flags must plan the same.
func (c *resumeCmd) byFlags(call *app.Invocation, past history.Past) (r resumable, err error) {
	flags := playbookFlags{Playbook: filepath.Join(past.Root, past.Playbook), planFlags: c.planFlags}
	if r.again, err = flags.planOptions(call); err != nil {
		return r, err
	}
	if r.plan, r.graph, err = flags.build(call); err != nil {
		return r, err
	}
	r.by = func(digest string) (*plan.Plan, *graph.Graph, error) {
		if digest == r.plan.Digest {
			return r.plan, r.graph, nil
		}
		return nil, nil, fmt.Errorf("the run does not keep what its plan was made from, and the playbook does not plan as it did then (plan %s, now %s): give the same variables, tags and selection as then",
			short(digest), short(r.plan.Digest))
	}
	return r, nil
}

// override puts flags that are given in the place of those the run had. Their paths start in dir.
func (c *resumeCmd) override(o plan.Options, dir string) plan.Options {
	for i, file := range c.VarsFile {
		// The flags' paths are relative to this directory, not to that of the first call.
		if !filepath.IsAbs(file) {
			c.VarsFile[i] = filepath.Join(dir, file)
		}
	}
	for i, v := range c.ExtraVars {
		if file, ok := strings.CutPrefix(v, "@"); ok && !filepath.IsAbs(file) {
			c.ExtraVars[i] = "@" + filepath.Join(dir, file)
		}
	}
	for _, g := range []struct{ to, given *[]string }{
		{&o.Values.Extra, &c.ExtraVars},
		{&o.Values.Files, &c.VarsFile},
		{&o.Select.Tags, &c.Tags},
		{&o.Select.SkipTags, &c.SkipTags},
		{&o.Select.Only, &c.Only},
		{&o.Select.Skip, &c.Skip},
	} {
		// A flag that is given replaces, and does not add: otherwise nothing could be taken away.
		if len(*g.given) > 0 {
			*g.to = *g.given
		}
	}
	if c.StartAt != nil {
		o.Select.StartAt = *c.StartAt
	}
	return o
}

// changedSince says of each step that is done and changed what of it has: the files that it reads, if that is all. The files are those
// that differ from any earlier plan of the run, since a resume that was only looked at has taken over the new plan already.
func (r *resumable) changedSince(past history.Past, undecided *engine.UndecidedError) (lines []string) {
	if len(undecided.ChangedAt) == 0 {
		return nil
	}
	files := status.OtherFilesOf(r.earlier(past), r.plan)
	for n, i := range undecided.ChangedAt {
		what := "its definition changed since"
		if list := files.Of(r.plan, i); len(list) > 0 {
			var words []string
			for _, c := range list {
				words = append(words, c.String())
			}
			what = strings.Join(words, ", ")
		}
		lines = append(lines, undecided.Changed[n]+" is done, and "+what)
	}
	return lines
}

// refusal says why a run is not resumed, and what would help.
func (r *resumable) refusal(past history.Past, err error) error {
	if _, busy := errors.AsType[*history.BusyError](err); busy { // whoever may wait does so
		return err
	}
	if undecided, ok := errors.AsType[*engine.UndecidedError](err); ok {
		var help []string
		for _, h := range []struct {
			steps []string
			what  string
			flag  string
		}{
			{undecided.Lost, "was lost: progress unknown", "--lost retry, ok or fail"},
			{undecided.Failed, "failed", "--retry-failed"},
			{r.changedSince(past, undecided), "", "--changed rerun or keep" + dependents(undecided.Dependents)},
			{undecided.Asking, "asks to be confirmed", "--approve all or --approve ID"},
		} {
			for _, step := range h.steps {
				help = append(help, strings.TrimRight(fmt.Sprintf("  %s %s", step, h.what), " "))
			}
			if len(h.steps) > 0 {
				help = append(help, "    decide with "+h.flag)
			}
		}
		for _, step := range undecided.Withheld {
			help = append(help, fmt.Sprintf("  %s gave a secret that is not kept and that later steps use, and changed something", step),
				"    it is not run again by itself: start a new run; `changed_when: false` says that a step may always be run again")
		}
		return app.Usage("%s is not resumed; nothing was run\n%s\nor resume it in a terminal and decide in the TUI", past.ID,
			strings.Join(help, "\n"))
	}
	if _, unbegun := errors.AsType[*history.UnbegunError](err); unbegun {
		return app.Usage("%s", err)
	}
	if errors.Is(err, engine.ErrFinished) {
		return app.Usage("%s: %s", past.ID, err)
	}
	return app.NewExit(app.ExitDisk, past.ID+": "+app.WithRoom(err))
}

// dependents names the done steps that depend on those that may run again: they keep their results in either case.
func dependents(steps []string) string {
	if len(steps) == 0 {
		return ""
	}
	return "; done, and depending on it: " + strings.Join(steps, ", ") +
		" (attach --send rerun-dependents, or the TUI, runs them again too)"
}

func short(digest string) string { return digest[:min(12, len(digest))] }
