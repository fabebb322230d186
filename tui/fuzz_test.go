package tui

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/events/steplog"
	"moon/plan"
	"moon/plan/vars"
	"moon/tui/tuitest"
)

// happenings is every kind of event that concerns steps or the run, to be filled with anything.
var happenings = []events.Event{
	events.StepStarted{},
	events.StepOutput{},
	events.StepProgress{},
	events.StepRetrying{},
	events.StepCompleted{Diff: &events.Diff{}},
	events.StepSkipped{},
	events.StepFailed{},
	events.StepLost{},
	events.StepCancelled{},
	events.StepOmitted{},
	events.PrintMessage{},
	events.VariableSet{},
	events.Notified{},
	events.GateOpened{},
	events.GateResolved{},
	events.RunPaused{},
	events.RunResumed{},
	events.CommandAccepted{},
	events.CommandRejected{},
	events.Warning{},
	events.Gap{},
	events.RunCompleted{},
}

// wishes are commands as others may send them.
var wishes = []events.Command{
	events.Approve{},
	events.Withdraw{},
	events.Exclude{},
	events.Include{},
	events.Break{},
	events.Advance{},
	events.Continue{},
	events.Pause{},
	events.Retry{},
	events.Skip{},
	events.Mark{},
	events.Set{},
	events.Answer{},
	events.Stop{},
	events.Leave{},
}

// dice makes decisions out of bytes. When they are used up every decision is the first choice.
type dice struct {
	bytes  []byte
	random uint64 // not 0: bytes do not matter, and never end
}

// loaded are dice of their own, which depend on one byte: what is drawn from them costs no more of a fuzzer's input.
func (d *dice) loaded() *dice { return &dice{random: uint64(d.byte()+1) * 0x9e3779b97f4a7c15} }

func (d *dice) byte() int {
	if d.random != 0 {
		d.random ^= d.random << 13
		d.random ^= d.random >> 7
		d.random ^= d.random << 17
		return int(d.random >> 40 & 0xff)
	}
	if len(d.bytes) == 0 {
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return int(b)
}

func (d *dice) below(n int) int { return d.byte() % max(n, 1) }

func (d *dice) name() string { return nasty[d.below(len(nasty))] }

// fill puts nasty texts into every field of a value that holds data, and something into the others. What refers to a step
// stays within the steps.
func (d *dice) fill(v reflect.Value, steps int) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() || v.Len() == 0 {
			v.SetString(d.name())
		}
	case reflect.Bool:
		v.SetBool(d.below(2) == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(d.below(steps)))
	case reflect.Pointer:
		if d.below(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			d.fill(v.Elem(), steps)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), d.below(3), 3))
		for i := range v.Len() {
			d.fill(v.Index(i), steps)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range d.below(3) {
			value := reflect.New(v.Type().Elem()).Elem()
			d.fill(value, steps)
			v.SetMapIndex(reflect.ValueOf(d.name()).Convert(v.Type().Key()), value)
		}
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[events.Command]() {
			c := reflect.New(reflect.TypeOf(wishes[d.below(len(wishes))])).Elem()
			d.fill(c, steps)
			v.Set(c)
		} else if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf([]any{d.name(), map[string]any{d.name(): d.name()}, []any{d.name(), 1, nil}, unknown(0), true}[d.below(5)]))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(tuitest.Start.Add(time.Duration(d.byte()) * time.Second)))
			return
		}
		for _, field := range v.Fields() {
			if field.CanSet() && !forRunning(field.Type()) {
				d.fill(field, steps)
			}
		}
	default: // nothing that is data
	}
}

// keepNeeds lets needs refer to scopes that there are, as those to steps do.
func (d *dice) keepNeeds(needs []plan.Need, scopes int) {
	for i := range needs {
		needs[i].Scope = d.below(scopes)
	}
}

// keepGates lets a gate be a step and those after it, as far as there are any.
func keepGates(gates []plan.Gate, steps int) {
	for i := range gates {
		g := &gates[i]
		g.Among = g.Among[:min(len(g.Among), steps-g.Step)]
		for n := range g.Among {
			g.Among[n] = g.Step + n
		}
	}
}

// forRunning reports whether a field is what planning keeps for running: no screen shows it, and it refers to itself.
func forRunning(t reflect.Type) bool {
	return t == reflect.TypeFor[*plan.Task]() || t == reflect.TypeFor[*vars.Frame]()
}

// plan is a plan with nasty texts in every field of scopes and steps, which is still a tree.
func (d *dice) plan() *plan.Plan {
	b := tuitest.NewBuilder(d.name())
	kinds := []plan.ScopeKind{plan.ScopeInclude, plan.ScopeBlock, plan.ScopeLoop, plan.ScopeBranch, plan.ScopePlay, plan.ScopeRole, plan.ScopePreset}
	var fill func(depth int)
	fill = func(depth int) {
		for range d.below(4) + max(4-2*depth, 0) {
			if len(b.Plan.Steps) > 30 || len(b.Plan.Scopes) > 30 {
				return
			}
			if depth < 15 && d.below(2) == 0 {
				b.Scope(kinds[d.below(len(kinds))], d.name(), d.byte(), nil, func() { fill(depth + 1) })
				continue
			}
			b.Step(d.name(), d.name(), d.byte())
		}
	}
	fill(0)
	for i := range b.Plan.Steps {
		s := &b.Plan.Steps[i]
		was := *s
		d.fill(reflect.ValueOf(s).Elem(), len(b.Plan.Steps))
		s.Index, s.Scope, s.Path = was.Index, was.Scope, fmt.Sprint(was.Path, i)
		d.keepNeeds(s.Needs, len(b.Plan.Scopes))
		keepGates(s.Gates, len(b.Plan.Steps))
		s.Prediction = []plan.Prediction{plan.WillRun, plan.MaySkip, plan.WillSkip}[d.below(3)]
	}
	for i := range b.Plan.Scopes {
		s := &b.Plan.Scopes[i]
		was := *s
		d.fill(reflect.ValueOf(s).Elem(), len(b.Plan.Steps))
		s.ID, s.Kind, s.Parent, s.First, s.Last, s.Path = was.ID, was.Kind, was.Parent, was.First, was.Last, fmt.Sprint(was.Path, i)
		d.keepNeeds(s.Needs, len(b.Plan.Scopes))
	}
	p := b.Done()
	p.Digest = fmt.Sprint("plan ", d.byte())
	return p
}

// drive plays whatever the dice say, and checks every frame.
func drive(tb testing.TB, d *dice) {
	tb.Helper()
	plans := []*plan.Plan{d.loaded().plan(), d.loaded().plan()}
	plans[1].Digest += "'"
	s := newScreen(tb, setup{p: plans[0], w: 80, h: 24, ascii: d.below(2) == 1, options: func(o *Options) {
		o.Theme, o.Mode = []string{"", "moonlight", "nosuch"}[d.below(3)], d.name()
		o.PlanFor = func(digest string) *plan.Plan {
			for _, p := range plans {
				if p.Digest == digest {
					return p
				}
			}
			return nil
		}
	}})
	s.f.Fails[""] = 1
	s.f.Print = func(_ *tuitest.Engine, i, attempt int) string { return d.loaded().print(s.dir, i, attempt) }
	w, h := 80, 24
	for len(d.bytes) > 0 {
		steps := len(s.f.P.Steps)
		switch d.below(12) {
		case 0:
			w, h = d.below(210), d.below(70)
			s.Send(tea.WindowSizeMsg{Width: w, Height: h})
		case 1:
			s.f.Tick()
			s.frame()
		case 2:
			s.f.Clock = s.f.Clock.Add(time.Duration(d.byte()) * time.Second)
			s.Send(tickMsg{})
		case 3, 4:
			e := reflect.New(reflect.TypeOf(happenings[d.below(len(happenings))])).Elem()
			d.loaded().fill(e, steps)
			s.f.Say(d.below(steps+1)-1, e.Interface().(events.Event))
			s.frame()
		case 5:
			s.Send(tea.PasteMsg{Content: d.name()})
		case 6:
			var f events.Prediction
			d.loaded().fill(reflect.ValueOf(&f).Elem(), steps)
			s.m.Predicted.Replace(&f, s.m.Plan)
			s.frame()
		case 7:
			p := plans[d.below(2)]
			s.f.P = p
			s.f.Active, s.f.Passed, s.f.Retries = -1, -1, nil
			s.f.Say(-1, events.PlanLoaded{TotalSteps: len(p.Steps), Digest: p.Digest})
			s.f.Say(-1, events.RunPaused{Reason: events.PauseReview})
			s.frame()
		case 8:
			at := tea.Mouse{X: d.byte(), Y: d.byte(), Button: tea.MouseButton(d.below(8))}
			s.Send([]tea.Msg{tea.MouseClickMsg(at), tea.MouseReleaseMsg(at), tea.MouseWheelMsg(at), tea.MouseMotionMsg(at), tea.FocusMsg{}, tea.BlurMsg{}}[d.below(6)])
		default:
			s.press(anyKey[d.below(len(anyKey))])
		}
		checkFrame(tb, s.m.View().Content, w, h)
		if s.m.crash != nil {
			tb.Fatal(s.m.crash)
		}
	}
}

func (d *dice) print(dir string, i, attempt int) string {
	prefix := fmt.Sprintf("%d.%d", i, attempt)
	w := steplog.NewWriter(dir, prefix, nil)
	defer w.Close()
	for range d.below(4) {
		_, _ = w.Stdout().Write([]byte(d.name() + "\n"))
		_, _ = w.Stderr().Write([]byte(d.name()))
	}
	return prefix
}

// FuzzScreen plays keys, events, sizes and plans with hostile texts everywhere: every frame fits, and nothing panics.
func FuzzScreen(f *testing.F) {
	f.Add([]byte("moon"))
	f.Add([]byte{3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		drive(t, &dice{bytes: data})
	})
}
