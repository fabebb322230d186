package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"moon/engine/exact"
	"moon/engine/graph"
	"moon/events"
	"moon/internal/app"
	"moon/plan"
	"moon/plan/show"
	"moon/tui/status"
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
	if err := c.printPredictions(call, p, g, c.shown(all), nil); err != nil {
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

// shown are predictions as they are printed: the texts of diffs only if they are asked for.
func (c *planCmd) shown(all []*events.Prediction) []*events.Prediction {
	if c.Diff.given {
		return all
	}
	shown := make([]*events.Prediction, len(all))
	for i, f := range all {
		if f != nil {
			short := *f
			short.Diff.Text = ""
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
		doc, err := g.JSON()
		if err != nil {
			return err
		}
		made := time.Time{}
		if kept != nil {
			made = kept.Made
		}
		return show.WritePredictionsJSON(call.Out, p, doc, made, func(step int) any {
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
		return append(predictionLines(p, all[step]), keptPartly(book.Of(&p.Steps[step]))...)
	})
	if err != nil {
		return err
	}
	when := ""
	if kept != nil {
		when = fmt.Sprintf("made %s, when the plan was saved; moon plan --plan FILE --check predicts again\n",
			kept.Made.Local().Format("2006-01-02 15:04:05"))
	}
	_, err = fmt.Fprintf(call.Out, "\n%s%s\n%s", notReached(p, all), predictionCounts(p, all), when)
	return err
}

// keptPartly says what of a kept prediction is not kept.
func keptPartly(e *events.Expectation) []string {
	switch {
	case e == nil:
		return nil
	case e.Partly == events.PartlyNoLog:
		return []string{"kept without details (no_log)"}
	case e.Partly == events.PartlySecrets:
		return []string{"kept with its secrets masked"}
	}
	return nil
}

// predictionLines are what is printed below a step.
func predictionLines(p *plan.Plan, f *events.Prediction) []string {
	if f.Away {
		return []string{"not reached"}
	}
	if f.Error != "" {
		return strings.Split("would fail: "+f.Error, "\n")
	}
	if f.Skipped != "" {
		return []string{"would be skipped: " + status.WhySkipped(f.Skipped)}
	}
	word := "would " + string(f.Diff.Kind)
	switch f.Diff.Kind {
	case events.ChangeNone:
		word = "no change"
	case events.ChangeUnknown:
		word = "unpredictable"
		if p.Steps[f.Step].Open() {
			word = "stays open"
		}
	case events.ChangeCreate, events.ChangeUpdate, events.ChangeDelete: // the kind is the word
	}
	if f.Maybe {
		word += ", if it is not skipped"
	}
	if f.Diff.Summary != "" {
		word += ": " + f.Diff.Summary
	}
	lines := []string{word}
	if f.Diff.Text != "" {
		for line := range strings.SplitSeq(strings.TrimSuffix(f.Diff.Text, "\n"), "\n") {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// notReached says of each host that was not reached why, once for all its steps, and not again where the facts of a host could not
// be had, which is a warning of the plan.
func notReached(p *plan.Plan, all []*events.Prediction) string {
	var text strings.Builder
	said := map[string]bool{}
	// The plan has warned of these hosts already.
	for _, u := range p.Unreached {
		said[u.Host] = true
	}
	for _, f := range all {
		if f == nil || !f.Away || said[p.Steps[f.Step].Host] {
			continue
		}
		said[p.Steps[f.Step].Host] = true
		fmt.Fprintf(&text, "%s\n", strings.ReplaceAll(strings.TrimSpace(f.Error), "\n", "\n  "))
	}
	return text.String()
}

// predictionCounts is one line about all of it.
func predictionCounts(p *plan.Plan, all []*events.Prediction) string {
	kinds, skipped, failed, away, open := map[events.ChangeKind]int{}, 0, 0, 0, 0
	// Each step counts once. A host that is not reached comes first, because the error is only its reason.
	for _, f := range all {
		switch {
		case f == nil:
		case f.Away:
			away++
		case f.Error != "":
			failed++
		case f.Skipped != "":
			skipped++
		case p.Steps[f.Step].Open():
			open++
		default:
			kinds[f.Diff.Kind]++
		}
	}
	var words []string
	for _, k := range []struct {
		n    int
		text string
	}{
		{kinds[events.ChangeCreate], "%d to create"},
		{kinds[events.ChangeUpdate], "%d to update"},
		{kinds[events.ChangeDelete], "%d to delete"},
		{kinds[events.ChangeNone], "%d unchanged"},
		{skipped, "%d to skip"},
		{kinds[events.ChangeUnknown], "%d unpredictable"},
		{open, "%d open"},
		{failed, "%d that would fail"},
		{away, "%d not reached"},
	} {
		if k.n > 0 {
			words = append(words, fmt.Sprintf(k.text, k.n))
		}
	}
	if len(words) == 0 {
		return "predicted: nothing would run"
	}
	return "predicted: " + strings.Join(words, ", ")
}
