package collection

import (
	"fmt"
	"strings"
)

// Missing is the error for a name that leads to nothing.
type Missing struct {
	Kind       Kind
	Name       string      // full, after redirects
	Collection string      // which is not installed; "" if it is the plugin that is not there
	In         *Collection // which has no such plugin; nil if the collection is not there
	Trail      []string    // the names that led there, the first one first
}

// Error implements error.
func (m *Missing) Error() string {
	text := fmt.Sprintf("there is no %s %s", m.Kind.Word(), m.Name)
	if m.Collection != "" {
		text = fmt.Sprintf("the collection %s is not installed", m.Collection)
	}
	if len(m.Trail) > 1 {
		text = fmt.Sprintf("%s is now %s, and %s", m.Trail[0], m.Name, text)
	}
	return text
}

// Removed is the error for what a collection had in an earlier version.
type Removed struct {
	Kind Kind
	Name string
	Says string // the collection of it
}

// Error implements error.
func (r *Removed) Error() string { return fmt.Sprintf("%s has been removed: %s", r.Name, r.Says) }

// Circle is the error for redirects that lead nowhere.
type Circle struct {
	Name  string
	Trail []string
}

// Error implements error.
func (c *Circle) Error() string {
	return fmt.Sprintf("the redirects of %s lead in a circle: %s", c.Name, strings.Join(c.Trail, " → "))
}
