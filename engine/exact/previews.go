package exact

import (
	"sync"

	"moon/events"
	"moon/plan"
)

// Previews are what a person was shown before the run, by what names a step. They may be used from anywhere.
type Previews struct {
	mu        sync.Mutex // guards what follows
	predicted map[string]*events.Prediction
}

// Expect says what a step was predicted to do, when that was shown to somebody who decides. What it then does otherwise is
// reported as drift.
func (s *Previews) Expect(p *plan.Plan, f *events.Prediction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.predicted == nil {
		s.predicted = map[string]*events.Prediction{}
	}
	s.predicted[identity(&p.Steps[f.Step])] = f
}

// ExpectNothing takes back all that was predicted.
func (s *Previews) ExpectNothing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.predicted)
}

// Shown is what a step was shown to do; nil if nothing was shown.
func (s *Previews) Shown(ps *plan.Step) *events.Prediction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.predicted[identity(ps)]
}

// identity names a step as long as it does the same.
func identity(ps *plan.Step) string { return ps.Path + "\x00" + ps.Host + "\x00" + ps.Digest }
