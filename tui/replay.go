package tui

// isOver is what the screen says to a key that would ask something of a recorded run.
const isOver = "this run is over"

// isRecorded reports whether the screen shows a run that is over and was recorded.
func (m *knownRun) isRecorded() bool { return m.o.Replay != "" }

// takeRecorded takes a recorded run in, whole, before there is a screen: nobody sees it happen again.
func (m *model) takeRecorded() error {
	drainFeed(m.store, m.o.Feed, func() {})
	m.store.Conclude()
	m.syncStore()
	return m.store.Failure()
}
