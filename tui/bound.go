package tui

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// boundSteps are steps that have not begun, with the values that the run has by now. Like what is watched they are found away from
// the screen, one round at a time: those on the screen that were open when the run was planned, after each step that has ended.
type boundSteps struct {
	steps  map[int]boundStep
	of     boundMoment
	asking bool

	predicting context.CancelFunc
	predicted  boundMoment // of the step that is paused at
}

type boundStep struct {
	plan.Step
	wrong string // why it cannot be run as it is
}

// boundMoment is what the values depend on.
type boundMoment struct {
	digest       string
	settled      int
	pauses, step int
}

// stepNow is a step as far as it is known by now.
func (m *knownRun) stepNow(i int) *plan.Step {
	if b, ok := m.bound.steps[i]; ok && m.tree.Faces[i].Pending() {
		return &b.Step
	}
	return &m.plan.Steps[i]
}

// openNow reports whether a step that has not begun was not known in full when the run was planned.
func (m *knownRun) openNow(i int) bool {
	p := &m.plan.Steps[i]
	return m.tree.Faces[i].Pending() && !p.Excluded && (len(p.Unknowns) > 0 || p.Prediction == plan.MaySkip)
}

// askBound has the steps on the screen bound, if something they may depend on has changed, and what the step would do that the run
// is paused at predicted.
func (m predicting) askBound() tea.Cmd {
	b := &m.bound
	if m.o.Bind == nil || m.isRecorded() || m.run.Phase == events.Review || m.run.Phase == events.Done || len(m.plan.Steps) == 0 {
		b.haltBinding()
		return nil
	}
	now := boundMoment{digest: m.plan.Digest, settled: m.run.Counts.Settled(), pauses: m.run.Pauses}
	if now.digest != b.of.digest {
		b.steps = nil
	}
	return tea.Batch(m.predictNext(now), m.bindShown(now))
}

func (m predicting) bindShown(now boundMoment) tea.Cmd {
	b := &m.bound
	if b.asking {
		return nil
	}
	wanted := []int{m.run.Pointer, m.tree.Step(m.cursorNode())}
	for _, n := range m.waiting.rows {
		wanted = append(wanted, m.tree.Step(int(n)))
	}
	slices.Sort(wanted)
	wanted = slices.DeleteFunc(slices.Compact(wanted), func(i int) bool {
		_, have := b.steps[i]
		return i < 0 || i >= len(m.plan.Steps) || !m.openNow(i) || have && now == b.of
	})
	if len(wanted) == 0 {
		return nil
	}
	b.asking = true
	p, bind, fresh := m.plan, m.o.Bind, now != b.of
	return func() tea.Msg {
		found := make(map[int]boundStep, len(wanted))
		for _, i := range wanted {
			step, err := bind(p, i)
			if err != nil && step.Action == "" { // the plan is another one by now
				continue
			}
			one := boundStep{Step: step}
			if err != nil {
				one.wrong = err.Error()
			}
			found[i] = one
		}
		return came{func(m *model) tea.Cmd {
			m.bound.takeResult(found, now, fresh, m.plan == p)
			m.tree.Soon = map[int]string{}
			for i := range m.bound.steps {
				if title := m.titleNow(i); title != "" && title != m.plan.Steps[i].Title() {
					m.tree.Soon[i] = title
				}
			}
			return nil
		}}
	}
}

func (b *boundSteps) takeResult(found map[int]boundStep, now boundMoment, fresh, same bool) {
	b.asking = false
	if !same {
		return
	}
	if fresh || b.steps == nil {
		b.steps = map[int]boundStep{}
	}
	maps.Copy(b.steps, found)
	b.of = now
}

// predictNext has the step predicted that the run is paused at: by now it may do something else than the review knew.
func (m predicting) predictNext(now boundMoment) tea.Cmd {
	b, at := &m.bound, m.run.PausedAt
	now.step = at
	if now == b.predicted {
		return nil
	}
	b.haltBinding()
	if m.o.Predict == nil || m.run.Phase != events.Paused || at < 0 || at >= len(m.plan.Steps) || !m.tree.Faces[at].Pending() {
		return nil
	}
	b.predicted = now
	ctx, cancel := context.WithCancel(context.Background())
	b.predicting = cancel
	p, predict := m.plan, m.o.Predict
	return func() tea.Msg {
		f := predict(ctx, p, at)
		return came{func(m *model) tea.Cmd {
			if f != nil && ctx.Err() == nil && m.plan == p {
				m.predicted.Replace(f, len(p.Steps))
			}
			cancel()
			return nil
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

// prediction is what a step would do, as far as it is known by now.
func (m *knownRun) prediction(i int) *events.Foretold { return m.predicted.Now(i, m.position()) }

// whenKnown says what a value waits for: the steps that will give it. Of those that have ended it says what became of them.
func (m *view) whenKnown(steps []int) string {
	switch from := m.position().SourcesOf(steps); {
	case len(from.Pending) > 0:
		return "known after " + m.stepNames(from.Pending)
	case len(from.Gone) > 0:
		return "has no value: " + m.stepName(from.Gone[0]) + " " + status.Fate(m.tree.Faces[from.Gone[0]])
	case len(from.Given) > 0 && !m.isRecorded():
		return "given by " + m.stepNames(from.Given)
	case len(from.Given) > 0:
		return "was given by " + m.stepNames(from.Given)
	case m.run.Phase != events.Review:
		return "known when the step starts"
	}
	return "known after " + m.stepNames(steps)
}

// templateKept reports whether a text shows a template because its values are not known.
func templateKept(text string) bool { return strings.Contains(text, "{{") }

// titleNow is the title of a step whose name has become known before it began.
func (m *knownRun) titleNow(i int) string {
	b, ok := m.bound.steps[i]
	if !ok || !m.tree.Faces[i].Pending() || templateKept(b.Title()) {
		return ""
	}
	return b.Title()
}
