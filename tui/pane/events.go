package pane

import (
	"strings"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/view"
)

// eventsPane is the tab Events.
type eventsPane struct{ *view.State }

// eventsTab tells what happened to a node, in words, oldest first.
func (m eventsPane) eventsTab(d *draw.Doc, s view.Subject) {
	if len(s.Past) == 0 {
		d.Hint("No events yet.")
		return
	}
	for i := range s.Past {
		p := &s.Past[i]
		words, look := p.Words()
		// One row for each event keeps the times in a column that can be read down. The tab Step has the whole of an error.
		line, _, _ := strings.Cut(words, "\n")
		// Below a scope are many steps, so a line has to say which one it is about.
		if s.Step < 0 && p.Step >= 0 && p.Step < len(m.Plan.Steps) && !aboutAll(p.Event) {
			line = m.TitleOn(&m.Plan.Steps[p.Step]) + "  " + line
		}
		role := draw.SignLooks[look].Role
		if look == draw.SignNone {
			role = themes.Text
		}
		d.Columns([]int{0, 10}, draw.Inked(themes.LogTime, p.At.Local().Format("15:04:05")), draw.Inked(role, line))
	}
}

// aboutAll reports whether an event is about the run although it names a step.
func aboutAll(e events.Event) bool {
	switch e.(type) {
	case events.RunPaused, events.CommandAccepted, events.CommandRejected:
		return true
	default:
		return false
	}
}
