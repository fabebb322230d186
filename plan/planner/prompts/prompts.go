package prompts

import (
	"crypto/rand"
	"strings"

	"moon/exec/spec"
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
	fresh bool // it was given now, and not for an earlier plan
}

// Ask gives the variables that nothing on the command line gives, in the order in which they are written.
func (a *Asker) Ask(list []playbook.Prompt, given func(name string) bool, renderer func() *plan.Renderer, chain []string) []Answer {
	ask := a.questions(list, given, renderer)
	if len(ask) == 0 || !a.answers(ask, chain) {
		return nil
	}
	for i := range ask {
		q := &ask[i]
		if q.fresh && !q.At.Encrypt.IsZero() && q.At.Encrypt.Kind() != playbook.Null && !a.problems.Found.HasErrors() {
			q.Typed = a.encrypt(q, renderer())
		}
		// A saved plan and a second planning need both.
		a.o.Values.Answers[q.Name] = q.Typed // encrypted, so that a salt that is drawn is drawn once
		a.plan.Basis.Prompts = append(a.plan.Basis.Prompts, q.Prompt)
	}
	return ask
}

// What a salt is made of, and how long it is at most and if nothing says so.
const (
	saltLetters = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	longestSalt = 16
)

// encrypt gives an answer in the form that /etc/shadow keeps, as `encrypt` says. Without `salt` one is drawn.
func (a *Asker) encrypt(q *Answer, r *plan.Renderer) string {
	salt := r.Text(q.At.Salt)
	if salt == "" {
		size := longestSalt
		a.known.ReadFixed(q.At.SaltSize, "salt_size", "a number from 1 to 16", r, func(v any) (ok bool) {
			size, ok = spec.ParseInt(v)
			return ok && size > 0 && size <= longestSalt
		})
		drawn := make([]byte, min(max(size, 1), longestSalt))
		_, _ = rand.Read(drawn) // which never fails
		for i, b := range drawn {
			drawn[i] = saltLetters[int(b)%len(saltLetters)] // 64 letters, so each is as likely
		}
		salt = string(drawn)
	}
	env := *r.Env.(*plan.Env)
	env.Extra = map[string]any{
		"text": q.Typed, "salt": salt, "how": strings.TrimSuffix(r.Text(q.At.Encrypt), "_crypt"),
	}
	r.Env = &env
	return r.Text(playbook.Written(q.At.Encrypt.Pos(), "{{ text | password_hash(how, salt) }}"))
}

// questions are the prompts that nothing on the command line answers.
func (a *Asker) questions(list []playbook.Prompt, given func(name string) bool, renderer func() *plan.Renderer) (ask []Answer) {
	for _, q := range list {
		if q.Name == "" || given(q.Name) { // the parser has said that it has none
			continue
		}
		r := renderer()
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
			continue
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
		q.fresh = true
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
