package prompts

import (
	"moon/plan"
	"moon/plan/planner/known"
	"moon/plan/planner/problems"
	"moon/plan/playbook"
)

// Asker asks for variables.
type Asker struct {
	plan     *plan.Plan
	o        *plan.Options // Values.Answers and Outside.Ask
	problems *problems.Collector
	known    *known.Reader
}

// New asks for the variables of a plan.
func New(p *plan.Plan, o *plan.Options, list *problems.Collector, values *known.Reader) *Asker {
	return &Asker{plan: p, o: o, problems: list, known: values}
}

// Answer is a variable that was typed, or its default.
type Answer struct {
	plan.Prompt
	Typed string
	At    playbook.Prompt
}

// Ask gives the variables that nothing on the command line gives, in the order in which they are written.
func (a *Asker) Ask(list []playbook.Prompt, given func(name string) bool, renderer func() *plan.Renderer, chain []string) []Answer {
	ask := a.questions(list, given, renderer, chain)
	if len(ask) == 0 || !a.answers(ask, chain) {
		return nil
	}
	for _, q := range ask {
		// A saved plan and a second planning need both.
		a.o.Values.Answers[q.Name] = q.Typed
		a.plan.Basis.Prompts = append(a.plan.Basis.Prompts, q.Prompt)
	}
	return ask
}

// questions are the prompts that nothing on the command line answers.
func (a *Asker) questions(list []playbook.Prompt, given func(name string) bool, renderer func() *plan.Renderer,
	chain []string,
) (ask []Answer) {
	for _, q := range list {
		if q.Name == "" || given(q.Name) { // the parser has said that it has none
			continue
		}
		r := renderer()
		for _, v := range []playbook.Value{q.Encrypt, q.Salt, q.SaltSize} {
			if !v.IsZero() && v.Kind() != playbook.Null {
				a.problems.Errorf(v.Pos(), 0, chain, "ask for the text, and use `| password_hash('sha512')` where it is needed",
					"vars_prompt: `encrypt` is not supported yet")
			}
		}
		ask = append(ask, Answer{At: q, Prompt: plan.Prompt{
			Name: q.Name, Text: r.Text(q.Text), Default: r.Text(q.Default), Private: a.known.ReadFlag(q.Private, "private", r, true),
			Confirm: a.known.ReadFlag(q.Confirm, "confirm", r, false),
		}})
	}
	return ask
}

// answers fills in what has not been answered yet: the first planning of a selection may have asked, and a saved plan has the answers.
func (a *Asker) answers(ask []Answer, chain []string) (ok bool) {
	var open []plan.Prompt
	for i := range ask {
		q := &ask[i]
		v, answered := a.o.Values.Answers[q.Name]
		switch {
		case answered:
			q.Typed = v
		case a.problems.Found.HasErrors(): // nothing will run, so no one is troubled
			q.Typed = q.Default
		case a.o.Outside.Ask != nil:
			open = append(open, q.Prompt)
		default:
			if q.Default == "" {
				a.problems.Errorf(q.At.Pos, 0, chain, "give it with -e "+q.Name+"=…",
					"`%s` is asked for (vars_prompt), and there is nobody to ask", q.Name)
			}
			q.Typed = q.Default
		}
	}
	if len(open) == 0 {
		return true
	}
	got, err := a.o.Outside.Ask(open)
	if err != nil {
		a.problems.Errorf(ask[0].At.Pos, 0, chain, "", "vars_prompt: %s", err)
		return false
	}
	for i := range ask {
		if text, answered := got[ask[i].Name]; answered {
			ask[i].Typed = text
		}
	}
	return true
}
