package tui

// takeRecorded takes a recorded run in, whole, before there is a screen: nobody sees it happen again.
func (m *model) takeRecorded() error {
	drainFeed(m.Store, m.o.Feed, func() {})
	m.Store.Conclude()
	m.syncStore()
	return m.Store.Failure()
}
