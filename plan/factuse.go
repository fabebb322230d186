package plan

import (
	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// factUse is what a plan uses of the facts. A saved plan keeps that much of them, and no more: the environment is full
// of what is nobody's business.
type factUse struct {
	names  map[string]bool // of facts
	env    map[string]bool // of environment variables; false where only steps with no_log use it
	whole  diag.Pos        // where all facts, or all of the environment, are used at once
	hiding bool            // what is rendered now belongs to a step with no_log

	// Of plays.
	at   diag.Pos        // of the task that is planned
	call map[string]bool // variables that say how moon was called
	done bool            // what a run uses is no part of the plan
}

func newFactUse() *factUse { return &factUse{names: map[string]bool{}, env: map[string]bool{}} }

// note takes down a use of a variable, if it reads a fact where the text is.
func (u *factUse) note(fr *frame, v playbook.Value, ref eval.Ref) {
	u.mentioned(fr, ref)
	if !fr.mayBeFact(ref.Name) {
		return
	}
	reads := false
	fr.each(ref.Name, func(b *binding) bool {
		reads = b.from == "fact" || b.from == "facts"
		return b.how == notProduced || b.certain // another may not come to be, and what it hides counts
	})
	if !reads {
		return
	}
	name, path := ref.Name, ref.Path
	if name == "facts" {
		var ok bool
		if name, path, ok = step(path); !ok {
			u.whole = v.Pos()
			return
		}
	}
	if name != "env" {
		u.names[name] = true
		return
	}
	variable, _, ok := step(path)
	if !ok {
		u.whole = v.Pos()
		return
	}
	u.env[variable] = u.env[variable] || !u.hiding && !ref.Secret
}

// step takes the first key off a path.
func step(path []any) (name string, rest []any, ok bool) {
	if len(path) == 0 {
		return "", nil, false
	}
	name, ok = path[0].(string)
	return name, path[1:], ok
}

func (fr *frame) mayBeFact(name string) bool {
	if name == "facts" {
		return true
	}
	if _, ok := fr.all.factsMap[name]; ok {
		return true
	}
	_, ok := fr.all.costly[name]
	return ok
}

// calls takes down the use of a variable that says how moon was called.
func (u *factUse) calls(name string) {
	if u.done {
		return
	}
	if u.call == nil {
		u.call = map[string]bool{}
	}
	u.call[name] = true
}
