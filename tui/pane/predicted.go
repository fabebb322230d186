package pane

import (
	"fmt"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// Predicting is what steps would do, as far as it is known, in words.
type Predicting struct{ *view.State }

// PredictedWord is the one word about what a step would do, for its row.
func (m Predicting) PredictedWord(step int) draw.Text {
	f := m.Prediction(step)
	switch {
	case f == nil:
		return draw.Text{}
	// Its error is that of the connection, so it comes before those of the step.
	case f.Away:
		return draw.Inked(themes.Failed, "not reached")
	case f.Error != "":
		return draw.Inked(themes.Failed, "would fail")
	case f.Skipped != "":
		return draw.Inked(themes.Dim, "would skip")
	}
	word := draw.Inked(themes.Dim, "")
	switch f.Diff.Kind {
	case events.ChangeNone:
		word.S = "no change"
	case events.ChangeCreate:
		word = draw.Inked(themes.DiffAdd, "create")
	case events.ChangeUpdate:
		word = draw.Inked(themes.Changed, "update")
	case events.ChangeDelete:
		word = draw.Inked(themes.DiffDel, "delete")
	case events.ChangeUnknown:
	}
	if f.Maybe && word.S != "" {
		word.S += "?"
	}
	return word
}

// DefiesDryRun reports whether a step is executed although the run is dry.
func (m Predicting) DefiesDryRun(p *plan.Step) bool { return m.Shot.Check && p.DefiesDryRun() }

// PredictedCounts are how many things would be created, updated and deleted, for the header.
func (m Predicting) PredictedCounts() []draw.Text {
	counts := m.Predicted.Counts()
	var line []draw.Text
	for _, k := range []struct {
		n    int
		sign string
		ink  draw.Ink
	}{
		{counts.Create, "+", themes.DiffAdd},
		{counts.Update, "~", themes.Changed},
		{counts.Delete, "-", themes.DiffDel},
		{counts.Fail, m.Glyphs.Signs[tree.FaceSigns[status.Failed]], themes.Failed},
	} {
		if k.n > 0 {
			line = append(line, draw.Inked(k.ink, fmt.Sprintf(" %s%d", k.sign, k.n)))
		}
	}
	return line
}

// HasDrifted reports whether a step did otherwise than predicted.
func (m Predicting) HasDrifted(of *events.Step) bool {
	return of.Drift != "" && of.State == events.Settled
}

// addPrediction says in the step's own pane what it would do.
func (m Predicting) addPrediction(d *draw.Doc, p *plan.Step) {
	f := m.Prediction(p.Index)
	if f == nil {
		return
	}
	word := m.PredictedWord(p.Index)
	switch {
	case f.Error != "":
		d.Field("predicted", word, draw.Inked(themes.Text, "  "+draw.Plain(f.Error)))
	case f.Skipped != "":
		d.Field("predicted", word, draw.Inked(themes.Dim, "  "+draw.Plain(status.WhySkipped(f.Skipped))))
	case word.S != "" || f.Diff.Summary != "":
		if word.S == "" {
			word = draw.Inked(themes.Dim, "unpredictable")
		}
		d.Field("predicted", word, draw.Inked(themes.Text, "  "+draw.Plain(f.Diff.Summary)))
	}
}

// PredictedIn counts what the steps below a scope would do.
func (m Predicting) PredictedIn(n int) known.PredictionCounts { return known.PredictedIn(m.Run, n) }
