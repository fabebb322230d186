package engine

import "sync"

// mailbox holds what has come in for the loop. It may be used from anywhere.
type mailbox struct {
	mu     sync.Mutex // guards what follows
	inbox  []input
	wake   chan struct{}
	closed bool
}

func (s *mailbox) put(in input) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.inbox = append(s.inbox, in)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
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
