package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"moon/engine/history"
	"moon/events"
	"moon/internal/app"
	"moon/internal/termtext"
	"moon/tui/plain"
)

// runsCmd lists the history.
type runsCmd struct {
	Format string `enum:"text,json" default:"text" help:"text or json."`
	Limit  int    `short:"n" default:"20" placeholder:"N" help:"How many to list, latest first; default 20, 0 lists all."`
}

// Help shows how to find a run.
func (runsCmd) Help() string {
	return `Lists the runs of all playbooks, latest first.

  moon runs
  moon runs -n 0 --format json`
}

func (c *runsCmd) Run(call *app.Invocation) error {
	if c.Limit < 0 {
		return app.Usage("-n must not be below 0")
	}
	list, more, err := pastRuns(c.Limit)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		enc := json.NewEncoder(call.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"runs": runsJSON(list)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(call.Out, "no runs yet")
		return err
	}
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	waited := slices.ContainsFunc(list, func(p history.Past) bool { return p.Waited >= time.Second })
	column := func(text string) string { // only where a run has waited for a person
		if waited {
			return text + "\t"
		}
		return ""
	}
	fmt.Fprintln(w, "RUN\tSTARTED\tTOOK\t"+column("WAITED")+"ENDED\tSTEPS\tPLAYBOOK")
	for _, p := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\t%s\t%s\n", p.ID, p.Started.Local().Format("2006-01-02 15:04"), plain.Duration(p.Ran),
			column(plain.Duration(p.Waited)),
			outcomeOf(p), stepsOf(p), termtext.CleanName(filepath.Join(p.Root, p.Playbook)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range list {
		for _, c := range p.Concurrent() {
			if c.ID < p.ID { // of two runs the later one is the one to say it
				fmt.Fprintf(call.Out, "%s: %s\n", p.ID, termtext.CleanName(c.String()))
			}
		}
	}
	if more > 0 {
		_, err = fmt.Fprintf(call.Out, "and %d more; -n 0 shows all\n", more)
	}
	return err
}

// pastRuns is the latest runs, and how many more there are; all of them where limit is 0.
func pastRuns(limit int) ([]history.Past, int, error) {
	return app.PastRuns(limit)
}

// pastRun finds the run that the user names, or the latest. The error is an *history.UnbegunError, next to the run before, if that had
// not begun.
func pastRun(which string) (history.Past, error) {
	state, err := app.StateDir()
	if err != nil {
		return history.Past{}, err
	}
	if which == "" {
		return history.Latest(state.Runs())
	}
	return history.Find(state.Runs(), which)
}

// outcomeOf is the end of a run in a word.
func outcomeOf(p history.Past) string {
	word := string(p.Outcome)
	switch {
	case p.Live:
		word = "running"
	case p.Damaged != "":
		word = "damaged"
	case word == "":
		word = "died"
	}
	if p.Options.Check {
		word += " (dry run)"
	}
	return word
}

func stepsOf(p history.Past) string {
	text := fmt.Sprintf("%d/%d", p.Done, p.Total)
	if p.Failed > 0 && p.Outcome != events.RunDone {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	return text
}

func runsJSON(list []history.Past) []plain.Head {
	out := make([]plain.Head, 0, len(list))
	for _, p := range list {
		check := p.Options.Check
		p.Options.Check = false
		r := plain.Head{
			Run: p.ID, Playbook: filepath.Join(p.Root, p.Playbook), Digest: p.Digest, Started: p.Started, DurationMS: p.Ran.Milliseconds(),
			WaitedMS: p.Waited.Milliseconds(),
			Outcome:  outcomeOf(p), Check: check, TotalSteps: p.Total, Done: p.Done, Changed: p.Changed, Failed: p.Failed, Dir: p.Dir,
		}
		if o := p.Owner; o.PID != 0 {
			r.Process = &plain.Process{PID: o.PID, User: o.User, Host: o.Host, Since: o.Since}
		}
		for _, c := range p.Concurrent() {
			r.Concurrent = append(r.Concurrent, c.ID)
		}
		out = append(out, r)
	}
	return out
}

// pruneCmd removes old runs.
type pruneCmd struct {
	Keep   int           `default:"50" placeholder:"N" help:"Keep the latest N runs."`
	Older  time.Duration `default:"0" placeholder:"AGE" help:"Only remove runs older than this, such as 720h."`
	DryRun bool          `short:"C" help:"Print what would be removed; remove nothing."`
}

// Help says what goes, and what stays.
func (pruneCmd) Help() string {
	return `Deletes the records of old runs: their plans, events and outputs. Live runs are kept. A deleted run cannot be resumed.

  moon prune --dry-run
  moon prune --keep 20 --older 720h`
}

func (c *pruneCmd) Run(call *app.Invocation) error {
	if c.Keep < 0 {
		return app.Usage("--keep must not be below 0")
	}
	list, _, err := pastRuns(0)
	if err != nil {
		return err
	}
	now, removed := time.Now(), 0
	// The list begins with the latest.
	old := list[min(c.Keep, len(list)):]
	unbegun, err := c.unbegun(now)
	if err != nil {
		return app.WrapDisk(err)
	}
	for _, p := range append(old, unbegun...) {
		if p.Live || now.Sub(p.Started) < c.Older {
			continue
		}
		if !c.DryRun {
			if err := p.Remove(); err != nil {
				return app.WrapDisk(err)
			}
		}
		removed++
		fmt.Fprintf(call.Out, "%s  %s  %s\n", p.ID, outcomeOf(p), termtext.CleanName(cmp.Or(p.Playbook, "not begun")))
	}
	word := "removed"
	if c.DryRun {
		word = "would be removed"
	}
	_, err = fmt.Fprintf(call.Out, "%d %s, %d kept\n", removed, word, len(list)+len(unbegun)-removed)
	return err
}

// unbegun are the runs that had no record when moon was killed: nothing can be done with them. A new one may be about to begin.
func (c *pruneCmd) unbegun(now time.Time) ([]history.Past, error) {
	state, err := app.StateDir()
	if err != nil {
		return nil, err
	}
	list, err := history.Unbegun(state.Runs(), history.Past{})
	return slices.DeleteFunc(list, func(p history.Past) bool { return now.Sub(p.Started) < time.Minute }), err
}
