package process

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// Owner is a loop that waits for a process on its own thread, because it has nothing else to wait for: to start a thread's work and to be
// woken by it costs more than a process that does nothing.
//
//	loop ─▶ Command.Run ─▶ poll(output, end of the process, bell) ─┬▶ output, end
//	             ▲                                                 └▶ Turn: what has come in for the loop
//	             └──────────────────────────────────────────────────────┘
//
// The process lives as long as that thread, so the loop must run OnThread. What asks the process to end, it asks within Turn, or it ends
// the context.
type Owner struct {
	Bell *Bell                // rung when Turn has something to do
	Turn func() time.Duration // does it, and says after how long it has something to do again; below 0: not before the bell rings
	Wait time.Duration        // the same, when the process is started
}

// Bell is a file that becomes readable when a loop is wanted. Ring may be called from anywhere, Silence and Close
// by the loop alone.
type Bell struct {
	mu   sync.Mutex
	r, w int // -1: it is closed
	rung bool
}

// NewBell makes a bell. It must be closed.
func NewBell() (*Bell, error) {
	r, w, err := makePipe()
	if err != nil {
		return nil, err
	}
	return &Bell{r: r, w: w}, nil
}

// Ring makes the bell readable. It never blocks: there is one byte at most in the pipe.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.rung && b.w >= 0 {
		b.rung = true
		_, _ = syscall.Write(b.w, []byte{0}) // a pipe that is empty takes a byte
	}
}

// Silence makes it unreadable again.
func (b *Bell) Silence() {
	b.mu.Lock()
	defer b.mu.Unlock()
	var one [1]byte
	if b.rung {
		b.rung = false
		_, _ = syscall.Read(b.r, one[:])
	}
}

// Close closes the file. Ringing has no effect any more.
func (b *Bell) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = syscall.Close(b.r), syscall.Close(b.w)
	b.r, b.w = -1, -1
}

// runOwned is Run on the thread of the loop that the command has.
func (p *Command) runOwned(ctx context.Context, c *child) Exit {
	c.asked = newStopping(ctx, c)
	// Both may end while nothing but the poll could notice it.
	defer context.AfterFunc(ctx, p.Owner.Bell.Ring)()
	defer context.AfterFunc(ending.ctx, p.Owner.Bell.Ring)()
	if p.Owner.Wait >= 0 {
		c.turn = time.Now().Add(p.Owner.Wait)
	}
	c.runToEnd()
	c.exit.Stop = c.asked.why
	return c.exit
}

// serveOwner gives the owner its turn, if it is time for it, and does what the process is asked for meanwhile.
func (c *child) serveOwner(rung bool) {
	if rung {
		c.Owner.Bell.Silence()
	}
	if rung || !c.turn.IsZero() && !time.Now().Before(c.turn) {
		c.turn = time.Time{}
		if wait := c.Owner.Turn(); wait >= 0 {
			c.turn = time.Now().Add(wait)
		}
	}
	for c.asked.obey() {
	}
}

// untilTurn is for how long the thread may wait for the process alone: no longer than the owner, or the next signal, can.
func (c *child) untilTurn(wait time.Duration) time.Duration {
	if c.Owner == nil {
		return wait
	}
	for _, due := range []time.Time{c.turn, c.asked.due} {
		if due.IsZero() {
			continue
		}
		if left := max(time.Until(due), 0); wait < 0 || left < wait {
			wait = left
		}
	}
	return wait
}
