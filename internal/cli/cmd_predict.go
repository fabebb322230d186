package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"moon/engine/exact"
	"moon/engine/graph"
	"moon/events"
	"moon/internal/app"
	"moon/internal/cli/predicted"
	"moon/plan"
	"moon/plan/prior"
	"moon/plan/show"
)

// predict prints the plan with what each step would do, and saves both if a file is named. changes says that something would change,
// or may.
func (c *planCmd) predict(call *app.Invocation, p *plan.Plan, g *graph.Graph) (changes bool, err error) {
	app.AskSupplied(p)
	pool, err := c.becomePasswords().Pool(call, p)
	if err != nil {
		return false, err
	}
	defer pool.Close()
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	all := make([]*events.Prediction, len(p.Steps))
	// The steps are predicted in order, on a picture that each adds to.
	app.NewPredictor(call.Asker, p, pool, !c.NoConnect, false, nil).PredictAll(ctx, func(f *events.Prediction) { all[f.Step] = f })
	// Checked before printing: half a prediction would look like a whole one.
	if ctx.Err() != nil {
		return false, app.NewExit(app.ExitInterrupted, "interrupted; nothing was changed")
	}
	made := time.Now()
	shown := c.shown(all)
	if err := c.drift(call, p, shown); err != nil {
		return false, err
	}
	if err := c.printPredictions(call, p, g, shown, nil); err != nil {
		return false, err
	}
	if c.Output != "" {
		say := call.Out
		if c.Format == "json" { // which must stay a document
			say = call.Err
		}
		if err := c.save(call, say, p, g, exact.Keep(p, all, made)); err != nil {
			return false, err
		}
	}
	for _, f := range all {
		if f != nil && f.Error != "" {
			return false, app.NewExit(app.ExitFailed, "")
		}
		changes = changes || f != nil && f.MayChange()
	}
	return changes, nil
}

// drift says of what earlier runs have made why it would be changed: by an edit of the playbook, or because the machine has changed.
func (c *planCmd) drift(call *app.Invocation, p *plan.Plan, all []*events.Prediction) error {
	if c.Saved != "" || p.RootFile == "-" {
		return nil // what is recorded is that of a playbook in its place
	}
	file, err := app.StateOf(filepath.Join(p.Root, p.RootFile))
	if err != nil {
		return err
	}
	state, err := file.Read()
	if err != nil {
		return app.NewExit(app.ExitDisk, err.Error())
	}
	return app.DriftOf(p, state, all, func() (map[prior.Key]app.Found, error) { return lookNow(call, c.playbookFlags, &c.becomeFlags) })
}

// shown are copies of predictions as they are printed: the texts of diffs only if they are asked for.
func (c *planCmd) shown(all []*events.Prediction) []*events.Prediction {
	shown := make([]*events.Prediction, len(all))
	for i, f := range all {
		if f != nil {
			short := *f
			if !c.Diff.given {
				short.Diff.Text = ""
			}
			shown[i] = &short
		}
	}
	return shown
}

// printPredictions prints the plan with predictions. kept is where they come from if they are not of now.
func (c *planCmd) printPredictions(call *app.Invocation, p *plan.Plan, g *graph.Graph, all []*events.Prediction,
	kept *events.Expectations,
) error {
	if c.Format == "json" {
		made := time.Time{}
		if kept != nil {
			made = kept.Made
		}
		return show.WritePredictionsJSON(call.Out, p, g.JSON, made, func(step int) any {
			if all[step] == nil {
				return nil
			}
			return all[step]
		})
	}
	book := exact.NewBook(kept)
	err := show.WritePredictions(call.Out, p, call.Width(), func(step int) []string {
		// Steps that only run after a failure have no prediction.
		if all[step] == nil {
			return nil
		}
		return append(predicted.Lines(p, all[step]), predicted.KeptPartly(book.Of(&p.Steps[step]))...)
	})
	if err != nil {
		return err
	}
	when := ""
	if kept != nil {
		when = fmt.Sprintf("made %s, when the plan was saved; moon plan --plan FILE --check predicts again\n",
			kept.Made.Local().Format("2006-01-02 15:04:05"))
	}
	_, err = fmt.Fprintf(call.Out, "\n%s%s\n%s", predicted.NotReached(p, all), predicted.Counts(p, all), when)
	return err
}
