package lines

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/tui/standing"
)

// on is the host of a step, to be said after its name: " on web1", " on web1, by lb1".
func (d *desk) on(i int) string {
	p := &d.plan.Steps[i]
	switch {
	case p.Host == "" || !d.overHosts && p.Host == "localhost":
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
func (d *desk) recap() (lines []string) {
	if !d.overHosts {
		return nil
	}
	hosts := d.run.Result.Hosts
	if len(hosts) == 0 {
		hosts = standing.Recap(d.plan, d.run.Steps)
	}
	for i := range hosts {
		lines = append(lines, "host "+clean(hosts[i].Host)+": "+countsOf(&hosts[i])+".")
	}
	return lines
}

func countsOf(c *events.HostCounts) string {
	var parts []string
	for k, n := range standing.Tallies(c) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, standing.TallyWords[k]))
		}
	}
	if len(parts) == 0 {
		return "nothing has run"
	}
	return strings.Join(parts, ", ")
}

// ofHost is the host that a loop is on, where its task is over several.
func (d *desk) ofHost(n int) string {
	s := &d.plan.Scopes[d.outline.nodes[n].scope]
	if s.Kind != plan.ScopeLoop || s.First >= s.Last || s.Last > len(d.plan.Steps) || standing.Task(d.plan, s.ID) < 0 {
		return ""
	}
	return " on " + clean(d.plan.Steps[s.First].Host)
}
