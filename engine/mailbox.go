package engine

import (
	"sync"

	"moon/events"
	"moon/events/fact"
	"moon/exec/process"
)

// mailbox holds what has come in for the loop. It may be used from anywhere.
type mailbox struct {
	mu     sync.Mutex // guards what follows
	inbox  []input
	wake   chan struct{}
	bell   *process.Bell // rung, too, while the loop waits for a process; nil otherwise
	closed bool
}

func (s *mailbox) put(in input) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.inbox = append(s.inbox, in)
	// One wake-up is enough: the loop takes everything that has come in.
	select {
	case s.wake <- struct{}{}:
	default:
	}
	if s.bell != nil {
		s.bell.Ring()
	}
	return true
}

// ringFor has a bell rung for what comes in, and for what has come in already; nil: none any more.
func (s *mailbox) ringFor(bell *process.Bell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bell = bell; bell != nil && len(s.inbox) > 0 {
		bell.Ring()
	}
}

func (s *mailbox) take() []input {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.inbox
	s.inbox = nil
	return in
}

// shut takes nothing more in, and gives what is left.
func (s *mailbox) shut() []input {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	in := s.inbox
	s.inbox = nil
	return in
}

// input is something that happens to the loop.
type input interface{ input() }

type (
	order  struct{ events.Order }
	report struct {
		fact.AttemptFinished
		of                 *attempt       // that ran in a worker
		out                string         // prefix of the output files
		registered, values map[string]any // whole, and also what is hidden from the journal
		err                error          // of the files beside it
	}
	replan struct {
		planned
		answer chan error
	}
)

func (order) input()  {}
func (report) input() {}
func (replan) input() {}
