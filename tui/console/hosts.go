package console

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/tui/status"
)

// recapHosts says of each host how its tasks have ended, the numbers that are not zero.
func (c *reporter) recapHosts() (lines []string) {
	if !c.overHosts {
		return nil
	}
	hosts := c.run.Result.Hosts
	if len(hosts) == 0 {
		// The run counts only at its end.
		hosts = status.Recap(c.plan, c.run.Steps)
	}
	for i := range hosts {
		lines = append(lines, "host "+clean(hosts[i].Host)+": "+countsOf(&hosts[i])+".")
	}
	return lines
}

func countsOf(c *events.HostCounts) string {
	var parts []string
	for k, n := range status.Tallies(c) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status.TallyWords[k]))
		}
	}
	if len(parts) == 0 {
		return "nothing has run"
	}
	return strings.Join(parts, ", ")
}
