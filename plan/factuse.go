package plan

import (
	"strings"

	"moon/plan/eval"
	"moon/plan/playbook"
)

func newFactUsage() *factUsage { return &factUsage{names: map[string]bool{}, env: map[string]bool{}} }

// note takes down a use of a variable, if it reads a fact where the text is.
func (u *factUsage) note(fr *frame, v playbook.Value, ref eval.Ref) {
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
func (u *factUsage) calls(name string) {
	if u.done {
		return
	}
	if u.call == nil {
		u.call = map[string]bool{}
	}
	u.call[name] = true
}

// mentioned notes the facts that a text names, also where nothing reads them while planning: a condition before them may be open.
func (u *factUsage) mentioned(fr *frame, ref eval.Ref) {
	m := fr.all.of
	short, ok := strings.CutPrefix(ref.Name, "ansible_")
	if m == nil || !ok || m.state != gathered {
		return
	}
	path := ref.Path
	if short == "facts" {
		if short, path, ok = step(path); !ok {
			return // who takes all of them asks for the keys
		}
	}
	if _, ok := m.facts[short]; !ok {
		return
	}
	m.used(short)
	if variable, _, ok := step(path); ok && short == "env" {
		envOf{m}.Get(variable)
	}
}
