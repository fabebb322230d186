package tui

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
	"moon/tui/tuitest"
)

// asked is one call of Options.PredictAll.
type asked struct {
	ctx  context.Context
	left []int
	told chan struct{} // closed when everything was told
}

// predicting makes a screen that is given what each step would do, and a channel of the times it asked for that.
func predicting(t *testing.T, w, h int, ascii bool, what func(step int) *events.Prediction) (*screen, chan asked) {
	t.Helper()
	calls := make(chan asked, 16)
	s := newScreen(t, setup{w: w, h: h, ascii: ascii, options: func(o *Options) {
		o.PredictAll = func(ctx context.Context, p *plan.Plan, left func(int) bool, tell func(*events.Prediction)) {
			call := asked{ctx: ctx, told: make(chan struct{})}
			for i := range p.Steps {
				if left(i) {
					call.left = append(call.left, i)
					continue
				}
				if f := what(i); f != nil {
					f.Step = i
					tell(f)
				}
			}
			close(call.told)
			calls <- call
		}
	}})
	return s, calls
}

func somePredicted(step int) *events.Prediction {
	kinds := []events.ChangeKind{events.ChangeCreate, events.ChangeUpdate, events.ChangeDelete, events.ChangeNone, events.ChangeUnknown}
	switch step % 8 {
	case 5:
		return &events.Prediction{Skipped: "creates /usr/local/go exists"}
	case 6:
		return &events.Prediction{Error: "user ada does not exist"}
	case 7:
		return nil
	}
	d := events.Diff{Kind: kinds[step%8], Path: fmt.Sprintf("/etc/file%d", step), Summary: "new file, 2 bytes", Text: "--- /dev/null\n+++ /etc/file\n@@ -0,0 +1 @@\n+hello\n"}
	if d.Kind == events.ChangeUnknown || d.Kind == events.ChangeNone {
		d.Summary, d.Text = "", ""
	}
	return &events.Prediction{Diff: d, Maybe: step > 8}
}

func TestPredictedScenes(t *testing.T) {
	for _, size := range sizes {
		for set, ascii := range map[string]bool{"unicode": false, "ascii": true} {
			name := fmt.Sprintf("predicted/%dx%d-%s", size.w, size.h, set)
			t.Run(name, func(t *testing.T) {
				s, calls := predicting(t, size.w, size.h, ascii, somePredicted)
				<-(<-calls).told
				s.frame()
				s.press("j")
				s.keys("3")
				golden(t, name, s.shows())
			})
		}
	}
}

// TestPredictedScopes shows what is predicted of all steps in a scope: collapsed its counts, and the diffs one after the other.
func TestPredictedScopes(t *testing.T) {
	for _, size := range sizes[:5] {
		for set, ascii := range map[string]bool{"unicode": false, "ascii": true} {
			name := fmt.Sprintf("predicted-all/%dx%d-%s", size.w, size.h, set)
			t.Run(name, func(t *testing.T) {
				s, calls := predicting(t, size.w, size.h, ascii, somePredicted)
				<-(<-calls).told
				s.frame()
				s.on("loop: install packages")
				s.keys("h")
				s.on("devbox.yml")
				s.keys("3")
				golden(t, name, s.shows())
			})
		}
	}
}

// TestPredictedAgain excludes a step: what the others would do is asked for again, without it. When the run begins nothing
// more is asked, and a question that is still open ends.
func TestPredictedAgain(t *testing.T) {
	s, calls := predicting(t, 120, 40, false, somePredicted)
	first := <-calls
	if !slices.Equal(first.left, []int{14}) {
		t.Errorf("at first %v are left out; what tags leave out is", first.left)
	}
	s.on("install ripgrep")
	s.press("x")
	s.frame()
	second := <-calls
	if !slices.Equal(second.left, []int{3, 14}) || first.ctx.Err() == nil {
		t.Errorf("then %v are left out, the first question %v", second.left, first.ctx.Err())
	}
	s.frame()
	select {
	case <-calls:
		t.Error("asked again without a reason")
	default:
	}
	s.keys("A c")
	if second.ctx.Err() == nil {
		t.Error("the question is open while the run goes on")
	}
}

// TestDrift shows what was done otherwise than predicted.
func TestDrift(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) {
		f.Result = func(i int, e *events.StepCompleted) {
			if i == 2 {
				e.Drift = "predicted was create (new file, 2 bytes), and it was no change"
				e.Diff = &events.Diff{Kind: events.ChangeNone, Path: "/etc/file"}
			}
		}
	}})
	s.press("A")
	s.frame()
	s.press("]")
	s.keys("a c")
	golden(t, "drift/120x40-unicode", s.shows())
}

// Another step is excluded in the place of one: as many as before, and still what the others would do is predicted again.
func TestPredictedAgainForOthers(t *testing.T) {
	s, calls := predicting(t, 120, 40, false, somePredicted)
	<-calls
	s.on("install ripgrep")
	s.press("x")
	s.frame()
	first := <-calls
	faces := s.m.Tree.Faces
	out, in := first.left[0], slices.IndexFunc(faces, func(f status.State) bool { return f != status.Excluded })
	faces[out], faces[in] = faces[in], faces[out] // both between two frames
	s.m.FollowPredictions()
	select {
	case again := <-calls:
		if len(again.left) != len(first.left) || slices.Equal(again.left, first.left) {
			t.Errorf("predicted without %v, and before without %v", again.left, first.left)
		}
	case <-time.After(10 * time.Second):
		t.Error("not predicted again")
	}
}
