package connect

import (
	"maps"

	"moon/plan"
)

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

// WithEnvironment are the facts of a host with an environment in which they are gathered, the inner one last. They are a copy, as another
// play may have another.
func WithEnvironment(facts map[string]any, list []map[string]string) map[string]any {
	gathered, ok := facts["env"].(map[string]any)
	if !ok || len(list) == 0 {
		return facts
	}
	env := maps.Clone(gathered)
	for _, one := range list {
		for name, text := range one {
			env[name] = text
		}
	}
	facts = maps.Clone(facts)
	facts["env"] = env
	return facts
}
