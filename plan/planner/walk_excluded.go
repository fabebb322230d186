package planner

import (
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/items"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// excludeHosts plans what becomes of hosts that are excluded, behind the step that gathers their facts: if that reaches one after all, the
// rest of it is not skipped in silence.
func excludeHosts(p *planner, cs []*taskContext, t *playbook.Task) {
	for _, c := range p.staying(cs) {
		why, ok := p.o.Facts.Excluded[c.on.Name]
		if !ok || c.on.State != vars.FactsPromised {
			continue
		}
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: t.Pos, Chain: c.chain,
			Message: c.on.Name + " is excluded from the plan, as its facts decide what it does: " + why,
			Hint:    "the other hosts continue without it; run the playbook again when it can be reached",
		})
		p.planTaskForHosts(p.always([]*taskContext{c}), p.standins.Excluded(t, why))
		c.on.left, c.on.gone = true, true
	}
}

// itemsOrFailure is itemsOf, with what stands for the whole loop if a name is undefined for which the task may fail: one task that
// does. It may where its author has provided for it, and where only the run knows whether the task is reached.
func (p *playsState) itemsOrFailure(c *taskContext, t *playbook.Task) (
	list []items.Item, typ string, late []value.Missing, ok bool, failing *playbook.Task,
) {
	why := ""
	switch {
	case c.play == nil || t.Kind == playbook.Block:
	case p.mayFail(c):
		why = plan.FailsThere
	case len(c.when) > 0:
		if v, sound := p.quietly(c, c.when); sound && !v.Known {
			why = plan.FailsReached
		}
	}
	if why == "" {
		list, typ, late, ok = p.itemsOf(c, t)
		return list, typ, late, ok, nil
	}
	message := p.Excuse(why, func() bool {
		list, typ, late, ok = p.itemsOf(c, t)
		return ok
	})
	if message == "" {
		return list, typ, late, ok, nil
	}
	return nil, "", nil, false, p.standins.Failing(t, message)
}
