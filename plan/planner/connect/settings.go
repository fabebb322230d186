package connect

import (
	"fmt"
	"slices"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/vars"
)

// settingsKey is where a host stands in a play, as far as variables go that lie around a task and not on it.
type settingsKey struct {
	scene     *vars.Scene
	inventory *vars.Layer
	block     *vars.Layer
	state     vars.Gathering // facts are variables, too
	// Moments pass with each task that sets something, whatever it sets.
	documentAt, producedAt int
}

// absentees are the settings that were looked for from a place, and were not there.
type absentees struct {
	from  settingsKey
	names map[string]bool
}

// settings looks up variables that say how a host is reached. Nearly all of them are nowhere, for any task: that is remembered
// where nothing on the task itself can give one.
func (c *Connector) settings(e *plan.Env) func(name string) (any, bool) {
	fr := e.Frame
	if fr.Over != nil || fr.Loop != nil || fr.Params != nil || fr.Step != nil || e.Extra != nil || e.Pending != nil {
		return e.Find
	}
	m := fr.All.Of
	key := settingsKey{
		scene: fr.Scene, inventory: m.InventoryFor(fr), block: fr.Block, state: m.State,
		documentAt: fr.DocumentAt, producedAt: fr.ProducedAt,
	}
	kept := c.absent[m]
	if kept == nil || kept.from != key {
		kept = &absentees{key, map[string]bool{}}
		c.absent[m] = kept
	}
	nowhere := kept.names
	return func(name string) (any, bool) {
		if nowhere[name] {
			return nil, false
		}
		v, ok := e.Find(name)
		if !ok {
			nowhere[name] = true
		}
		return v, ok
	}
}

// NoteName remembers that a variable exists which moon does not honour. Only those are looked for at each step.
func (c *Connector) NoteName(name string) {
	v := vars.UnhonouredEntry(name)
	if v == nil || slices.ContainsFunc(c.ignored, func(g vars.IgnoredVariable) bool { return g.Name == name }) {
		return
	}
	c.ignored = append(c.ignored, vars.IgnoredVariable{Name: name, Entry: v})
}

// windowsHint is the way out for what is about Windows hosts.
const windowsHint = "exclude it with `--limit`, and leave these hosts to ansible-playbook"

// warnIgnored warns about variables that would apply to a step and are not honoured, each of them once.
func (c *Connector) warnIgnored(place Place, e *plan.Env, uses ...vars.UseOf) {
	for i := range c.ignored {
		g := &c.ignored[i]
		message := fmt.Sprintf("the variable `%s` has no effect: moon does not honour it", g.Name)
		// What is only tried out takes back what it has reported.
		said := g.Said > 0 && g.Said <= len(c.problems.Found) && c.problems.Found[g.Said-1].Message == message
		if said || !slices.Contains(uses, g.Entry.Only) {
			continue
		}
		at, given := vars.PlaceOf(e.Frame, g.Name)
		if v, _ := e.Find(g.Name); !given || g.Usual(v) {
			continue
		}
		d := diag.Diagnostic{Severity: diag.Warning, Pos: place.Pos, Chain: place.Chain, Hint: g.Entry.Doc, Message: message}
		if at.File != "" {
			d.Pos, d.Chain = diag.Pos{File: at.File, Line: at.Line, Column: at.Column}, at.Chain
		}
		c.problems.Report(d)
		g.Said = len(c.problems.Found)
	}
}
