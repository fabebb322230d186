package spec

import (
	"maps"
	"slices"
	"time"
)

// ParseDuration reads a duration as playbooks write it: 30s, 1m30s, or a number of seconds. A negative one is none.
func ParseDuration(value any) (time.Duration, bool) { return asDuration(value) }

// ParseInt reads a whole number, also from text: what -e gives is text.
func ParseInt(value any) (int, bool) { return asInt(value) }

// ParseBool reads a boolean, also from text: true, yes, on, 1 and their opposites.
func ParseBool(value any) (b, ok bool) { return asBool(value) }

// sortedNames are the names of a map, in order.
func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
