package cli

import (
	"context"
	"fmt"
	"strings"

	"moon/engine/graph"
	"moon/events"
	"moon/internal/app"
	"moon/plan"
	"moon/plan/show"
	"moon/tui/status"
)

// predict prints the plan with what each step would do.
func (c *planCmd) predict(call *app.Invocation, p *plan.Plan, g *graph.Graph) error {
	app.AskSupplied(p)
	pool, err := c.becomePasswords().Pool(call, p)
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	all := make([]*events.Prediction, len(p.Steps))
	// The steps are predicted in order, on a picture that each adds to.
	app.NewPredictor(call.Asker, p, pool, !c.NoConnect, false, nil).PredictAll(ctx, func(f *events.Prediction) {
		if !c.Diff.given {
			f.Diff.Text = ""
		}
		all[f.Step] = f
	})
	// Checked before printing: half a prediction would look like a whole one.
	if ctx.Err() != nil {
		return app.NewExit(app.ExitInterrupted, "interrupted; nothing was changed")
	}
	if err := c.printPredictions(call, p, g, all); err != nil {
		return err
	}
	for _, f := range all {
		if f != nil && f.Error != "" {
			return app.NewExit(app.ExitFailed, "")
		}
	}
	return nil
}

func (c *planCmd) printPredictions(call *app.Invocation, p *plan.Plan, g *graph.Graph, all []*events.Prediction) error {
	if c.Format == "json" {
		doc, err := g.JSON()
		if err != nil {
			return err
		}
		return show.WritePredictionsJSON(call.Out, p, doc, func(step int) any {
			if all[step] == nil {
				return nil
			}
			return all[step]
		})
	}
	err := show.WritePredictions(call.Out, p, call.Width(), func(step int) []string {
		// Steps that only run after a failure have no prediction.
		if all[step] == nil {
			return nil
		}
		return predictionLines(p, all[step])
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(call.Out, "\n%s%s\n", notReached(p, all), predictionCounts(p, all))
	return err
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
