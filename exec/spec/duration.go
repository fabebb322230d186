package spec

import "time"

// ParseDuration reads a duration as playbooks write it: 30s, 1m30s, or a number of seconds. A negative one is none.
func ParseDuration(value any) (time.Duration, bool) { return asDuration(value) }
