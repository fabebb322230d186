package known

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/tui/debugger"
)

// boundSteps are steps that have not begun, with the values that the run has by now. Like what is watched they are found in
// the background, one round at a time: those in sight that were open when the run was planned, after each step that has ended.
type boundSteps struct {
	steps  map[int]debugger.Bound
	of     boundMoment
	asking bool

	predicting context.CancelFunc
	predicted  boundMoment // of the step that is paused at
}

// boundMoment is what the values depend on.
type boundMoment struct {
	digest       string
	settled      int
	pauses, step int
}

// StepNow is a step as far as it is known by now.
func (m *Run) StepNow(i int) *plan.Step {
	if b, ok := m.bound.steps[i]; ok && m.Tree.Faces[i].Pending() {
		return &b.Step
	}
	return &m.Plan.Steps[i]
}

// openNow reports whether a step that has not begun was not known in full when the run was planned.
func (m *Run) openNow(i int) bool {
	p := &m.Plan.Steps[i]
	return m.Tree.Faces[i].Pending() && !p.Excluded && (len(p.Unknowns) > 0 || p.Prediction == plan.MaySkip)
}

// Prediction is what a step would do, as far as it is known by now.
func (m *Run) Prediction(i int) *events.Prediction { return m.Predicted.Now(i, m.Position()) }

// WrongNow is why a step cannot be run as it is by now, or "".
func (m *Run) WrongNow(i int) string { return m.bound.steps[i].Wrong }

// titleNow is the title of a step whose name has become known before it began.
func (m *Run) titleNow(i int) string {
	b, ok := m.bound.steps[i]
	if !ok || !m.Tree.Faces[i].Pending() || keepsTemplate(b.Title()) {
		return ""
	}
	return b.Title()
}

// keepsTemplate reports whether a text shows a template because its values are not known.
func keepsTemplate(text string) bool { return strings.Contains(text, "{{") }

// AskBound has the steps in sight bound, if something they may depend on has changed, and what the step would do that the run
// is paused at predicted.
func (m *Run) AskBound(shown func() []int) tea.Cmd {
	b := &m.bound
	if m.Engine.Bind == nil || m.IsRecorded() || m.Shot.Phase == events.Review || m.Shot.Phase == events.Done || len(m.Plan.Steps) == 0 {
		b.haltBinding()
		return nil
	}
	now := boundMoment{digest: m.Plan.Digest, settled: m.Shot.Counts.Settled(), pauses: m.Shot.Pauses}
	// In another plan the same number is another step.
	if now.digest != b.of.digest {
		b.steps = nil
	}
	return tea.Batch(m.predictNext(now), m.bindShown(now, shown))
}

func (m *Run) bindShown(now boundMoment, shown func() []int) tea.Cmd {
	b := &m.bound
	if b.asking {
		return nil
	}
	wanted := append(shown(), m.Shot.Pointer)
	slices.Sort(wanted)
	wanted = slices.DeleteFunc(slices.Compact(wanted), func(i int) bool {
		_, have := b.steps[i]
		return i < 0 || i >= len(m.Plan.Steps) || !m.openNow(i) || have && now == b.of
	})
	if len(wanted) == 0 {
		return nil
	}
	b.asking = true
	// Taken here, as the function runs in a goroutine of Bubble Tea's while the model runs and may get another plan.
	p, bind, fresh := m.Plan, m.Engine.Bind, now != b.of
	return func() tea.Msg {
		found := make(map[int]debugger.Bound, len(wanted))
		for _, i := range wanted {
			if one, known := bind.Step(p, i); known {
				found[i] = one
			}
		}
		return Answer{func() string {
			m.bound.takeResult(found, now, fresh, m.Plan == p)
			m.Tree.Soon = map[int]string{}
			for i := range m.bound.steps {
				if title := m.titleNow(i); title != "" && title != m.Plan.Steps[i].Title() {
					m.Tree.Soon[i] = title
				}
			}
			return ""
		}}
	}
}

func (b *boundSteps) takeResult(found map[int]debugger.Bound, now boundMoment, fresh, same bool) {
	// Also where the plan is gone, or there would never be another round.
	b.asking = false
	if !same {
		return
	}
	if fresh || b.steps == nil {
		// Steps out of sight lose what is known of them, as it is of an earlier moment; they are asked for when they are seen.
		b.steps = map[int]debugger.Bound{}
	}
	maps.Copy(b.steps, found)
	b.of = now
}

// predictNext has the step predicted that the run is paused at: by now it may do something else than the review knew.
func (m *Run) predictNext(now boundMoment) tea.Cmd {
	b, at := &m.bound, m.Shot.PausedAt
	now.step = at
	if now == b.predicted {
		return nil
	}
	b.haltBinding()
	if m.Engine.Predict == nil || m.Shot.Phase != events.Paused || at < 0 || at >= len(m.Plan.Steps) || !m.Tree.Faces[at].Pending() {
		return nil
	}
	b.predicted = now
	ctx, cancel := context.WithCancel(context.Background())
	b.predicting = cancel
	p, predict := m.Plan, m.Engine.Predict
	return func() tea.Msg {
		f := predict(ctx, p, at)
		return Answer{func() string {
			// It may have been given up after it ended and before this message came.
			if f != nil && ctx.Err() == nil && m.Plan == p {
				m.Predicted.Replace(f, p)
			}
			cancel()
			return ""
		}}
	}
}

// haltBinding gives up what is being predicted.
func (b *boundSteps) haltBinding() {
	if b.predicting != nil {
		b.predicting()
		b.predicting = nil
	}
	b.predicted = boundMoment{}
}

// FollowPredictions keeps the predictions up with the run.
func (m *Run) FollowPredictions() {
	guard := func(do func()) { m.Store.Guard("the prediction", do) }
	m.Predicted.Follow(m.Position(), m.Engine.PredictAll, guard, m.Store.Wake)
}
