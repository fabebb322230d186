package connect

import (
	"maps"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/vars"
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

// Machine is a host of which nothing is known but what earlier runs have kept.
func (c *Connector) Machine(name string, host *inventory.Host, use *vars.FactUsage) *vars.Machine {
	return &vars.Machine{
		Name: name, Host: host, Gatherer: -1, Use: use, Apart: c.o.Mode.FactsApart, Stored: c.stored(name),
	}
}

// stored are the facts of a host that earlier runs have kept, from when the plan was first made: the run itself keeps others.
func (c *Connector) stored(name string) map[string]any {
	if c.o.Mode.FactFiles.Dir == "" {
		return nil
	}
	if known, ok := c.o.Facts.Stored[name]; ok {
		return known
	}
	if c.o.Outside.StoredFacts == nil {
		return nil
	}
	c.o.Facts.Stored[name] = c.o.Outside.StoredFacts(c.o.Mode.FactFiles, name)
	return c.o.Facts.Stored[name]
}

// AsWritten is an environment whose values are known, as a task has one.
func AsWritten(list []map[string]string, at diag.Pos) []playbook.Value {
	written := make([]playbook.Value, len(list))
	for i, env := range list {
		var entries []playbook.Entry
		for _, name := range plan.SortedKeys(env) {
			if v, err := playbook.WrittenData(at, env[name]); err == nil { // it is a text
				entries = append(entries, playbook.Entry{Key: name, Pos: at, Value: v})
			}
		}
		written[i] = playbook.WrittenMap(at, entries...)
	}
	return written
}
