package plan

import (
	"slices"

	"moon/plan/playbook"
)

// blockRounds plans a block that loops: once for each item, and each time for all hosts that have that item.
func (p *planner) blockRounds(cs []*scopeContext, t *playbook.Task) {
	type round struct {
		label string
		index int
		cs    []*scopeContext
	}
	var rounds []*round
	for _, c := range cs {
		p.on(c)
		items, typ, ok := p.items(c, t)
		if !ok || !p.rounds(len(items), len(cs), t, c) {
			continue
		}
		from := origin(t.Loop.Pos, c.chain)
		expression := loopExpression(t.Loop)
		for i, item := range items {
			one := *c
			one.depth = c.depth + 1
			made := &layer{binds: []binding{{name: t.Loop.Var, value: item.value, open: item.open, raw: item.raw, where: item.where, from: "loop", origin: from}}}
			one.loop = p.roundOnHost(&one, t, items, i, made)
			lc := p.roundContext(&one, t, items, i, LoopContext{Type: typ, Expression: expression})
			if mayHide(one.noLog(t)) {
				lc.Item = nil
			}
			one.inLoop = &lc
			at := slices.IndexFunc(rounds, func(r *round) bool { return r.index == i && r.label == lc.Label })
			if at < 0 {
				at = len(rounds)
				rounds = append(rounds, &round{label: lc.Label, index: i})
			}
			rounds[at].cs = append(rounds[at].cs, &one)
		}
	}
	slices.SortStableFunc(rounds, func(a, b *round) int { return a.index - b.index })
	for _, r := range rounds {
		if p.full {
			return
		}
		p.blockOnce(r.cs, t, r.label)
	}
}
