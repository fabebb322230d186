package console

import (
	"context"
	"fmt"
	"time"
)

// Run talks until the person has left and the run has ended. A cancelled ctx ends it at once, with the context's error.
// The feed is drained to its end in any case.
func Run(ctx context.Context, o Options) error {
	keys, err := newKeyboard(o.In)
	if err != nil {
		return err
	}
	defer keys.closeKeyboard()
	ticks := o.Ticks
	// What the clock has said would differ from one run of a script to the next.
	if ticks == nil && o.Person {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		ticks = t.C
	}
	c := newConsole(o)
	c.lent, c.hide = keys.lendTerminal, keys.hideTyped
	err = c.attendLoop(ctx, &o, keys.lines, ticks)
	c.predicted.Halt()
	if c.prompted { // what comes after is on a line of its own
		fmt.Fprintln(c.w)
		c.flush()
	}
	go func() { // whoever sends must not be kept waiting
		for range o.Feed { // only read
		}
	}()
	return err
}

// attendLoop is the loop. Whatever comes is answered before the next is taken.
func (c *console) attendLoop(ctx context.Context, o *Options, typed <-chan string, ticks <-chan time.Time) error {
	feed := o.Feed
	for {
		// Before waiting again, as what the line has waited for may have come with the last event.
		for c.waits != nil && c.mayAct(*c.waits) {
			line := *c.waits
			c.waits = nil
			c.takeLine(line)
		}
		if c.inputOver && c.waits == nil && c.announcer.opened && c.atRest() {
			c.exit.leaveUnseen()
		}
		// In each round and before the prompt: the echo must be off before the first character is typed.
		c.hide(c.question != nil && c.question.secret)
		c.showPrompt()
		switch {
		case c.failure != nil:
			return c.failure
		case c.exit.forced:
			return ErrForced
		case c.exit.leaving && feed == nil:
			// The feed is read to its end, as it holds how the run has ended.
			return nil
		}
		// One line waits at most. While it does, nothing is read: what was typed after it stays in the terminal, for whatever it starts.
		lines := typed
		if c.waits != nil || !c.announcer.opened {
			lines = nil
		}
		select {
		case batch, ok := <-feed:
			if !ok {
				// A nil channel is never ready, so from here on only the others are served.
				feed, c.exit.closed = nil, true
				continue
			}
			c.announcer.hearBatch(batch)
		case line, ok := <-lines:
			if ok {
				c.waits = &line
			} else {
				typed, c.inputOver = nil, true
			}
		case <-o.Interrupts:
			c.handleInterrupt()
		case do := <-o.Aside:
			c.lendTerminal(do)
		case <-c.predictedAll:
			c.announcer.sayPredicted()
		case now := <-ticks:
			c.handleTick(now)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
