package bind

import (
	"errors"
	"fmt"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/callees"
	"moon/plan/playbook"
)

// Place is where a step runs, as far as that is known by now.
type Place struct {
	Cwd     string
	Env     map[string]string
	Become  *plan.Become // nil: the user who runs moon
	Roams   bool         // nobody has chosen Cwd
	Missing []string
}

// Place renders where a step runs and nothing else of it. What is not known yet, or wrong, is left out and said.
func (b *Bound) Place() *Place {
	s, k := b.Step, b.Step.Task
	p := &Place{Cwd: s.Cwd, Become: s.Become, Roams: k.Cwd.IsZero(), Env: map[string]string{}}
	text := func(what string, v playbook.Value) (string, bool) {
		// A renderer for each, so that what one text lacks does not hide the others.
		r, problems := b.collecting()
		t := r.Text(v)
		err := b.failure(r, problems)
		var missing *plan.Missing
		switch {
		case errors.As(err, &missing):
			p.Missing = append(p.Missing, fmt.Sprintf("%s: `%s` is not known before %s", what, missing.Name, b.plan.After(missing.Steps)))
		case err != nil:
			p.Missing = append(p.Missing, what+": "+err.Error())
		}
		return t, err == nil
	}
	for _, m := range k.Env {
		for _, e := range m.Entries() {
			if t, ok := text(e.Key, e.Value); ok {
				p.Env[e.Key] = t
			}
		}
	}
	cwd := func(what string, v playbook.Value) {
		if v.IsZero() {
			return
		}
		if t, ok := text(what, v); ok {
			p.Cwd, p.Roams = k.Resolve(t, b.plan.Home), false
		}
	}
	cwd("cwd", k.Cwd)
	// The argument counts above the key, as it does for the command.
	if chdir, ok := plan.ValueOf(k.Args, "chdir"); ok {
		cwd("chdir", chdir)
	}
	if p.Become != nil && !k.BecomeUser.IsZero() {
		user, ok := text("become_user", k.BecomeUser)
		switch {
		case !ok || user == b.plan.Basis.O.User:
			p.Become = nil
		default:
			p.Become = &plan.Become{User: user, Method: p.Become.Method, Flags: p.Become.Flags}
		}
	}
	return p
}

// talking is the conversation with the step's action plugin. The plugin asks one thing after the other.
func (n *Names) talking() *callees.Talk {
	if n.talk == nil {
		n.talk = callees.NewTalk(n.b.plan, n.b.env)
	}
	return n.talk
}

// Answer answers what an action plugin asks. It implements exec.Talker, with what follows.
func (n *Names) Answer(question []byte) ([]byte, error) {
	answer, err := n.talking().Answer(question)
	if open, ok := errors.AsType[*value.Open](err); ok && len(open.Missing) > 0 {
		m := missingOf(open.Missing)
		n.open.Store(m)
		return nil, m
	}
	if m := n.lacks(n.b.env, err); m != nil {
		return nil, m
	}
	return answer, err
}

// Encode writes a value for an action plugin.
func (n *Names) Encode(v any) ([]byte, error) { return n.talking().Encode(v) }

// SearchPath are the directories in which the files of the step are looked for.
func (n *Names) SearchPath() []string { return n.talking().SearchPath() }
