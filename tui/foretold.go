package tui

import (
	"context"
	"fmt"
	"sync"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/tree"
)

// predicting is what steps would do, as far as it is known, in words.
type predicting struct{ *view }

// foretold is what the steps of a plan would do, as far as it is known by now. It is found out in the background while
// the plan is reviewed; the model only looks.
type foretold struct {
	mu     sync.Mutex
	of     []*events.Foretold // by step
	kinds  map[events.ChangeKind]int
	failed int
	known  int
	cancel context.CancelFunc
	out    []bool // the steps that were excluded when it began
}

// foretell begins to find out, or begins again if other steps are excluded than before. It ends with the review.
func (m *knownRun) foretell() {
	if m.o.Foretell == nil {
		return
	}
	if m.run.Phase != events.Review {
		m.foretold.halt()
		return
	}
	f := &m.foretold
	if f.cancel != nil && !m.excludedOther(f.out) {
		return
	}
	f.halt()
	p := m.plan
	out := make([]bool, len(p.Steps))
	for i := range out {
		out[i] = m.tree.Faces[i] == status.Excluded
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.mu.Lock()
	f.of, f.kinds, f.failed, f.known = make([]*events.Foretold, len(p.Steps)), map[events.ChangeKind]int{}, 0, 0
	f.cancel, f.out = cancel, out
	f.mu.Unlock()
	go m.store.Guard("foretelling", func() {
		m.o.Foretell(ctx, p, func(step int) bool { return out[step] }, func(one *events.Foretold) {
			if ctx.Err() == nil {
				f.take(one)
				m.store.Wake()
			}
		})
	})
}

// excludedOther reports whether other steps are excluded than these.
func (m *knownRun) excludedOther(out []bool) bool {
	if len(out) != len(m.tree.Faces) {
		return true
	}
	for i, was := range out {
		if was != (m.tree.Faces[i] == status.Excluded) {
			return true
		}
	}
	return false
}

// halt stops finding out. What is known stays.
func (f *foretold) halt() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

func (f *foretold) take(one *events.Foretold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.Step >= len(f.of) {
		return
	}
	f.of[one.Step] = one
	f.known++
	switch {
	case one.Away: // the header says which hosts
	case one.Error != "":
		f.failed++
	case one.Skipped == "":
		f.kinds[one.Diff.Kind]++
	}
}

// step is what a step would do, or nil.
func (f *foretold) step(i int) *events.Foretold {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i < 0 || i >= len(f.of) {
		return nil
	}
	return f.of[i]
}

// foretoldWord is the one word about what a step would do, for its row.
func (m predicting) foretoldWord(step int) draw.Text {
	f := m.foretoldNow(step)
	switch {
	case f == nil:
		return draw.Text{}
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

// defiesDryRun reports whether a step is executed although the run is dry.
func (m predicting) defiesDryRun(p *plan.Step) bool { return m.run.Check && p.DefiesDryRun() }

// foretoldCounts are how many things would be created, updated and deleted, for the header.
func (m predicting) foretoldCounts() []draw.Text {
	f := &m.foretold
	f.mu.Lock()
	defer f.mu.Unlock()
	var line []draw.Text
	for _, k := range []struct {
		n    int
		sign string
		ink  draw.Ink
	}{
		{f.kinds[events.ChangeCreate], "+", themes.DiffAdd},
		{f.kinds[events.ChangeUpdate], "~", themes.Changed},
		{f.kinds[events.ChangeDelete], "-", themes.DiffDel},
		{f.failed, m.glyphs.Signs[tree.FaceSigns[status.Failed]], themes.Failed},
	} {
		if k.n > 0 {
			line = append(line, draw.Inked(k.ink, fmt.Sprintf(" %s%d", k.sign, k.n)))
		}
	}
	return line
}

// drifted reports whether a step did otherwise than it was foretold to.
func (m predicting) drifted(of *events.Step) bool {
	return of.Drift != "" && of.State == events.Settled
}

// foretoldField says in the step's own pane what it would do.
func (m predicting) foretoldField(d *draw.Doc, p *plan.Step) {
	f := m.foretoldNow(p.Index)
	if f == nil {
		return
	}
	word := m.foretoldWord(p.Index)
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
