package connect

import (
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// SyncedWith is the machine whose connection a task takes: the one that does it, but for synchronize. There rsync runs on the machine that
// the task is delegated to, and the other end is the host of the play. Delegated to that host itself, it copies there.
func (c *Connector) SyncedWith(
	k *plan.Task, at Place, own, by *vars.Machine, to playbook.Value, e *plan.Env, r *plan.Renderer,
) *vars.Machine {
	if k.Action == nil || k.Action.Name != "synchronize" {
		return by
	}
	k.Own().There = "dest"
	if v, given := plan.ValueOf(k.Args, "mode"); given {
		missing := r.Missing // the argument is rendered among the others, where what it lacks is counted
		if value.Text(value.Plain(r.Value(v))) == "pull" {
			k.Own().There = "src"
		}
		r.Missing = missing
	}
	switch {
	case to.IsZero():
	case own == by:
		k.Own().There = "src, dest"
	case c.ConnectionTo(at, by, e, r) != nil:
		c.problems.Errorf(at.Pos, 0, at.Chain, "delegate it to localhost or to its own host, or run rsync with `command`",
			"`synchronize` does not copy between two hosts yet: from %s to %s", by.Name, own.Name)
	}
	return own
}
