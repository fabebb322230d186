package exec

import "moon/events"

// Known reports whether an action can be carried out, whether it foretells what it does, and what a prediction says
// without that.
func Known(name string) (known, foretells bool, effect events.ChangeKind) {
	a, known := actions[name]
	return known, a.plan != nil, a.effect
}

// Gather is GatherFacts of a machine whose files are below root.
var Gather = gather

// FactGatherers are the names of all that facts are gathered by.
func FactGatherers() []string {
	var names []string
	for _, g := range gatherers {
		names = append(names, g.name)
	}
	return names
}

// ReadOutput reads a piece of what a process prints from a file, and gives the error that its step would end with.
func ReadOutput(fd int) error {
	c := &child{process: &process{}}
	c.read(&ends{reads: [2]int{fd, -1}}, 0, make([]byte, 10))
	return c.unread
}
