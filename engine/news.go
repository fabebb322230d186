package engine

import (
	"sync"
	"sync/atomic"
)

// news tells waiting readers that there is something new to read. It never blocks and keeps nothing.
type news struct {
	mu      sync.Mutex
	ch      chan struct{}
	printed atomic.Uint64 // how often a step has
}

func newNews() *news { return &news{ch: make(chan struct{})} }

func (n *news) poke() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.ch)
	n.ch = make(chan struct{})
}

// print says that a step has printed.
func (n *news) print() {
	n.printed.Add(1)
	n.poke()
}

// wait returns a channel that is closed by the next poke. It is taken before reading, so that nothing is missed.
func (n *news) wait() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ch
}
