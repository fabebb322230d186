package exact

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"moon/events"
	"moon/exec/spec"
	"moon/plan"
)

// mostText is the size of a diff's text, in bytes, above which only its digest is kept.
const mostText = 32 << 10

// Keep makes what a saved plan keeps of predictions. all has one for each step, nil for a step that is not expected to run.
func Keep(p *plan.Plan, all []*events.Prediction, made time.Time) *events.Expectations {
	list := &events.Expectations{Made: made.UTC().Truncate(time.Second), Steps: []events.Expectation{}}
	for i, f := range all {
		if f != nil {
			list.Steps = append(list.Steps, Expect(&p.Steps[i], f))
		}
	}
	return list
}

// Expect is what is kept of one prediction.
func Expect(ps *plan.Step, f *events.Prediction) events.Expectation {
	e := events.Expectation{Path: ps.Path, Host: ps.Host, Prediction: *f, Text: digestOf(f.Diff.Text)}
	if len(e.Diff.Text) > mostText {
		e.Diff.Text = ""
	}
	switch {
	case ps.NoLog:
		e.Partly = events.PartlyNoLog
	case f.Masked:
		e.Partly = events.PartlySecrets
	}
	return e
}

func digestOf(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Book has expectations by their steps.
type Book struct{ at map[key]*events.Expectation }

// key names a step in every plan of a run.
type key struct{ path, host string }

func keyOf(ps *plan.Step) key { return key{ps.Path, ps.Host} }

// NewBook has the expectations of a list, which may be nil.
func NewBook(list *events.Expectations) *Book {
	b := &Book{at: map[key]*events.Expectation{}}
	if list != nil {
		for i := range list.Steps {
			e := &list.Steps[i]
			b.at[key{e.Path, e.Host}] = e
		}
	}
	return b
}

// Of is what is expected of a step; nil if that is nothing.
func (b *Book) Of(ps *plan.Step) *events.Expectation { return b.at[keyOf(ps)] }

// Take expects something else of a step from now on: what a person has accepted.
func (b *Book) Take(e *events.Expectation) { b.at[key{e.Path, e.Host}] = e }

// Predictions are the expectations with the steps of the plan; nil for a step without one.
func (b *Book) Predictions(p *plan.Plan) []*events.Prediction {
	all := make([]*events.Prediction, len(p.Steps))
	for i := range p.Steps {
		if e := b.Of(&p.Steps[i]); e != nil {
			f := e.Prediction
			f.Step = i
			all[i] = &f
		}
	}
	return all
}

// Open is a step that no prediction holds to anything.
type Open struct {
	Step  int
	Why   string
	Spare bool // it runs only if another step fails
}

// Open are the steps of a plan that may run, and of which it is not known what they would do.
func (b *Book) Open(p *plan.Plan) (list []Open) {
	for i := range p.Steps {
		ps := &p.Steps[i]
		if ps.Excluded || ps.Prediction == plan.WillSkip || !ps.Open() && (looks[ps.Action] || spec.Inward(ps.Action)) {
			continue // it does not run, or changes nothing on a machine
		}
		e := b.Of(ps)
		if why := open(e); why != "" {
			list = append(list, Open{i, why, e == nil})
		}
	}
	return list
}

// open says why a prediction holds its step to nothing, or "".
func open(e *events.Expectation) string {
	switch {
	case e == nil:
		return "it runs only if another step fails"
	case e.Away:
		return "its host was not reached"
	case e.Error != "":
		return "it was predicted to fail"
	case e.Skipped != "":
		return ""
	case e.Diff.Kind == events.ChangeUnknown && e.Diff.Summary != "":
		return e.Diff.Summary
	case e.Diff.Kind == events.ChangeUnknown:
		return "its effect is unpredictable"
	}
	return ""
}
