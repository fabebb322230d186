package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"moon/events"
	"moon/tui/status"
)

// predictions are what the steps of a plan would do, as far as it is known by now. It is found out in the background.
type predictions struct {
	news chan struct{} // there is some

	mu     sync.Mutex
	of     []*events.Foretold // by step
	runs   int                // that find out
	told   string             // words that were said
	cancel context.CancelFunc
	out    []bool // the steps that were excluded when it began
}

// predictAll begins to find out, or begins again if other steps are excluded than before. It ends with the review.
func (d *knownRun) predictAll() {
	f := &d.predicted
	if d.sources.PredictAll == nil {
		return
	}
	if d.run.Phase != events.Review {
		f.halt()
		return
	}
	p := d.plan
	out := make([]bool, len(p.Steps))
	for i := range out {
		out[i] = d.State(i) == excluded
	}
	if f.cancel != nil && slices.Equal(f.out, out) {
		return
	}
	f.halt()
	ctx, cancel := context.WithCancel(context.Background())
	f.mu.Lock()
	f.of, f.cancel, f.out = make([]*events.Foretold, len(p.Steps)), cancel, out
	f.runs++
	f.mu.Unlock()
	go func() {
		d.sources.PredictAll(ctx, p, func(step int) bool { return out[step] }, func(one *events.Foretold) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if ctx.Err() == nil && one.Step < len(f.of) {
				f.of[one.Step] = one
			}
		})
		f.mu.Lock()
		f.runs--
		f.mu.Unlock()
		select {
		case f.news <- struct{}{}:
		default:
		}
	}()
}

// halt stops finding out. What is known stays.
func (f *predictions) halt() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// replace takes what is known better by now.
func (f *predictions) replace(one *events.Foretold, steps int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.of) < steps {
		f.of = append(f.of, make([]*events.Foretold, steps-len(f.of))...)
	}
	if one.Step < len(f.of) {
		f.of[one.Step] = one
	}
}

// busy reports whether there is more to come.
func (f *predictions) busy() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs > 0 && f.cancel != nil
}

func (f *predictions) step(i int) *events.Foretold {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i < 0 || i >= len(f.of) {
		return nil
	}
	return f.of[i]
}

// prediction is what a step would do. That it could not be known before others had ended counts no longer when they have.
func (d *knownRun) prediction(i int) *events.Foretold {
	f := d.predicted.step(i)
	if f == nil || len(f.After) == 0 || slices.ContainsFunc(f.After, func(of int) bool { return d.of(of).State != events.Settled }) {
		return f
	}
	return nil
}

// words counts what would be done.
func (f *predictions) words() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	kinds, fail, away := map[events.ChangeKind]int{}, 0, 0
	for _, one := range f.of {
		switch {
		case one == nil:
		case one.Away:
			away++
		case one.Error != "":
			fail++
		case one.Skipped == "":
			kinds[one.Diff.Kind]++
		}
	}
	var parts []string
	for _, k := range []struct {
		n    int
		word string
	}{
		{fail, "would fail"},
		{away, "not reached"},
		{kinds[events.ChangeCreate], "create"},
		{kinds[events.ChangeUpdate], "update"},
		{kinds[events.ChangeDelete], "delete"},
		{kinds[events.ChangeNone], "no change"},
	} {
		if k.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", k.n, k.word))
		}
	}
	return strings.Join(parts, ", ")
}

// sayPredicted says once what is predicted, to a person: a script asks for it.
func (c *announcer) sayPredicted() {
	if !c.person || c.run.Phase != events.Review || c.predicted.busy() {
		return
	}
	if words := c.predicted.words(); words != "" && words != c.predicted.told {
		c.predicted.told = words
		c.say("predicted: %s. show N says more.", words)
	}
}

// predictedWord is the one word about what a step would do.
func (c *reporter) predictedWord(i int) string {
	f := c.prediction(i)
	switch {
	case f == nil:
		return ""
	case f.Away:
		return "not reached"
	case f.Error != "":
		return "would fail"
	case f.Skipped != "":
		return "would be skipped"
	}
	word := kindWord(f.Diff.Kind)
	if f.Maybe && word != "" {
		word = "perhaps " + word
	}
	return word
}

func kindWord(k events.ChangeKind) string {
	switch k {
	case events.ChangeNone:
		return "no change"
	case events.ChangeCreate, events.ChangeUpdate, events.ChangeDelete:
		return string(k)
	case events.ChangeUnknown:
	}
	return ""
}

// predictedWords says it whole.
func (c *reporter) predictedWords(i int) string {
	f := c.prediction(i)
	word := c.predictedWord(i)
	switch {
	case f == nil:
		return ""
	case f.Error != "":
		return word + ": " + f.Error
	case f.Skipped != "":
		return word + ": " + status.WhySkipped(f.Skipped)
	case word == "" && f.Diff.Kind == events.ChangeUnknown:
		word = "unpredictable"
	}
	return strings.TrimSuffix(word+": "+f.Diff.Summary, ": ")
}
