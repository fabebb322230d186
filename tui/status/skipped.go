package status

import (
	"strings"

	"moon/events"
)

// WhySkipped says why a step was skipped, from the reason that a run gives: "when: X" is "X is false", and what an action says of itself
// stands alone.
func WhySkipped(reason string) string {
	if text, is := strings.CutPrefix(reason, string(events.SkipAction)+": "); is {
		return text
	}
	rest, is := strings.CutPrefix(reason, string(events.SkipWhen))
	if !is || rest != "" && rest[0] != ':' && rest[0] != ' ' {
		return reason
	}
	if rest = strings.TrimLeft(rest, ": "); rest == "" || rest == "false" {
		return "condition false"
	}
	return rest + " is false"
}
