package planner

import (
	"slices"
	"strings"

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
		key := moduleKey{t, why}
		out, ok := p.outs[key]
		if !ok {
			text := func(s string) playbook.Value {
				v, _ := playbook.WrittenData(t.Pos, s) // a text can be written
				return v
			}
			out = &playbook.Task{
				Kind: playbook.Action, Pos: t.Pos, Action: "fail", ActionKey: "fail", ActionPos: t.Pos, Name: text("excluded from the plan: " + why),
				Args: playbook.WrittenMap(t.Pos, playbook.Entry{
					Pos: t.Pos, Key: "msg",
					Value: text("its facts decide what it does, and could not be had while planning; run the playbook again"),
				}),
				Loop: playbook.Loop{Var: "item"}, PlayTask: new(playbook.PlayTask),
			}
			p.outs[key] = out
		}
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: t.Pos, Chain: c.chain,
			Message: c.on.Name + " is excluded from the plan, as its facts decide what it does: " + why,
			Hint:    "the other hosts continue without it; run the playbook again when it can be reached",
		})
		p.planTaskForHosts(p.always([]*taskContext{c}), out)
		c.on.left, c.on.gone = true, true
	}
}

// itemsOrFailure is itemsOf, with what stands for the whole loop if it is over an undefined name, for which the task may fail: one task
// that does.
func (p *playsState) itemsOrFailure(c *taskContext, t *playbook.Task) (
	list []items.Item, typ string, late []value.Missing, ok bool, failing *playbook.Task,
) {
	if t.Kind != playbook.Action || !p.mayFail(c) {
		list, typ, late, ok = p.itemsOf(c, t)
		return list, typ, late, ok, nil
	}
	// What is said of the loop is said in another way if the task may fail for it.
	before := p.Found
	p.Found = nil
	list, typ, late, ok = p.itemsOf(c, t)
	said := p.Found
	p.Found = before
	isOther := func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && !strings.HasPrefix(d.Message, "undefined variable")
	}
	fails := !ok && len(said) > 0 && !slices.ContainsFunc([]diag.Diagnostic(said), isOther)
	for _, d := range said {
		if fails {
			d.Severity, d.Message = diag.Warning, d.Message+plan.FailsThere
		}
		p.Report(d)
	}
	if !fails {
		return list, typ, late, ok, nil
	}
	failing, known := p.failing[t]
	if !known {
		one := *t
		one.Loop = playbook.Loop{Var: t.Loop.Var, Index: t.Loop.Index}
		one.Action, one.ExtraArgs = "fail", playbook.Value{}
		msg := playbook.Entry{Pos: t.Loop.Pos, Key: "msg", Value: playbook.Written(t.Loop.Pos, said[0].Message)}
		one.Args = playbook.WrittenMap(t.Loop.Pos, msg)
		one.Until, one.ChangedWhen, one.FailedWhen = nil, nil, nil
		failing = &one
		p.failing[t] = failing
	}
	return nil, "", nil, false, failing
}
