package tui

import (
	"time"

	"moon/events"
	"moon/tui/feed"
	"moon/tui/terminal"
)

// drainFeed folds the feed to its end. A panic on the way must not end the process while the terminal belongs to the
// screen, nor keep the engine waiting for somebody to read.
func drainFeed(s *feed.Store, feed <-chan []events.Record, failed func()) {
	defer func() {
		if r := recover(); r != nil {
			// The failure is noted before the TUI ends, which reports it. The feed is still read, or the engine would wait for that
			// for ever.
			s.End(terminal.PanicError(r))
			failed()
			for range feed { // only read
			}
		}
	}()
	s.Drain(feed)
}

// passFrames passes pokes on: the first at once, the others at most once in a frameTime.
func passFrames(poke <-chan struct{}, stop <-chan struct{}, send func()) {
	for {
		select {
		case <-stop:
			return
		case <-poke:
			send()
		}
		select {
		case <-stop:
			return
		case <-time.After(frameTime):
		}
	}
}

// frameTime is the shortest time between two frames that the feed asks for.
const frameTime = 33 * time.Millisecond
