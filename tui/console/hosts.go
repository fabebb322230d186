package console

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// on is the host of a step, to be said after its name: " on web1", " on web1, by lb1".
func (c *titles) on(i int) string {
	p := &c.plan.Steps[i]
	switch {
	case p.Host == "" || !c.overHosts && p.Host == "localhost":
		return ""
	case p.Delegate != "" && p.Delegate != p.Host:
		return " on " + clean(p.Host) + ", by " + clean(p.Delegate)
	}
	return " on " + clean(p.Host)
}

// hostsWords is over how many hosts a part of the plan is.
func hostsWords(s *plan.Scope) string {
	if s.Hosts == 0 {
		return ""
	}
	return count(s.Hosts, "host")
}

// recap says of each host how its tasks have ended, the numbers that are not zero.
func (c *reporter) recap() (lines []string) {
	if !c.overHosts {
		return nil
	}
	hosts := c.run.Result.Hosts
	if len(hosts) == 0 {
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

// ofHost is the host that a loop is on, where its task is over several.
func (c *titles) ofHost(n int) string {
	s := &c.plan.Scopes[c.outline.nodes[n].scope]
	if s.Kind != plan.ScopeLoop || s.First >= s.Last || s.Last > len(c.plan.Steps) || status.Task(c.plan, s.ID) < 0 {
		return ""
	}
	return " on " + clean(c.plan.Steps[s.First].Host)
}
