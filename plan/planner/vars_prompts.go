package planner

import (
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// askFor puts variables that are to be typed upon others, unless the command line gives them.
func (p *variables) askFor(prompts []playbook.Prompt, c *taskContext, below *vars.Layer) *vars.Layer {
	ask, at := p.questions(prompts, c)
	if len(ask) == 0 {
		return below
	}
	answers, ok := p.answers(ask, at, c)
	if !ok {
		return below
	}
	l := &vars.Layer{Parent: below}
	for i, q := range ask {
		// A saved plan and a second planning need both.
		p.o.Values.Answers[q.Name] = answers[q.Name]
		p.plan.Basis.Prompts = append(p.plan.Basis.Prompts, q)
		var v any = answers[q.Name]
		if q.Private {
			// What was typed unseen must not show in what is made of it.
			v = value.Mark(p.secrets, v, value.Every)
		}
		p.connector.NoteName(q.Name)
		l.Add(vars.Binding{Name: q.Name, Value: v, From: "vars_prompt", Origin: origin(at[i].Pos, c.chain)})
	}
	return l
}

// questions are the prompts that nothing on the command line answers, each with where it is written.
func (p *variables) questions(prompts []playbook.Prompt, c *taskContext) (ask []plan.Prompt, at []playbook.Prompt) {
	for _, q := range prompts {
		given := false
		for _, l := range []*vars.Layer{p.names.Extra, p.names.Files} {
			given = given || l != nil && l.Find(q.Name) != nil
		}
		if given || q.Name == "" { // the parser has said that it has none
			continue
		}
		r := p.Renderer(p.env(c, nil), c.chain)
		for _, v := range []playbook.Value{q.Encrypt, q.Salt, q.SaltSize} {
			if !v.IsZero() && v.Kind() != playbook.Null {
				p.Errorf(v.Pos(), 0, c.chain, "ask for the text, and use `| password_hash('sha512')` where it is needed",
					"vars_prompt: `encrypt` is not supported yet")
			}
		}
		at = append(at, q)
		ask = append(ask, plan.Prompt{
			Name: q.Name, Text: r.Text(q.Text), Default: r.Text(q.Default), Private: p.ReadFlag(q.Private, "private", r, true),
			Confirm: p.ReadFlag(q.Confirm, "confirm", r, false),
		})
	}
	return ask, at
}

// answers asks what has not been answered yet: the first planning of a selection may have asked, and a saved plan has the answers. If no
// one can be asked, the default counts.
func (p *variables) answers(ask []plan.Prompt, at []playbook.Prompt, c *taskContext) (answers map[string]string, ok bool) {
	answers = map[string]string{}
	var open []plan.Prompt
	for i, q := range ask {
		v, answered := p.o.Values.Answers[q.Name]
		switch {
		case answered:
			answers[q.Name] = v
		case p.Found.HasErrors(): // nothing will run, so no one is troubled
			answers[q.Name] = q.Default
		case p.o.Outside.Ask != nil:
			open = append(open, q)
		default:
			if q.Default == "" {
				p.Errorf(at[i].Pos, 0, c.chain, "give it with -e "+q.Name+"=…", "`%s` is asked for (vars_prompt), and there is nobody to ask",
					q.Name)
			}
			answers[q.Name] = q.Default
		}
	}
	if len(open) == 0 {
		return answers, true
	}
	got, err := p.o.Outside.Ask(open)
	if err != nil {
		p.Errorf(at[0].Pos, 0, c.chain, "", "vars_prompt: %s", err)
		return nil, false
	}
	for _, q := range open {
		answers[q.Name] = got[q.Name]
	}
	return answers, true
}
