package connect

import "moon/plan"

// Ask gives the facts of hosts, of each as it answered when it was asked first.
func (c *Connector) Ask(targets []plan.Target) []plan.Gathered {
	var open []plan.Target
	for _, t := range targets {
		if _, ok := c.o.Facts.Asked[t.Host]; !ok {
			open = append(open, t)
		}
	}
	if len(open) > 0 {
		for i, got := range c.o.Outside.Gather(open) {
			c.o.Facts.Asked[open[i].Host] = got
		}
	}
	got := make([]plan.Gathered, len(targets))
	for i, t := range targets {
		got[i] = c.o.Facts.Asked[t.Host]
	}
	return got
}
