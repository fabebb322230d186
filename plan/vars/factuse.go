package vars

import (
	"strings"

	"moon/plan/eval"
	"moon/plan/playbook"
)

// NewFactUsage has noted nothing yet.
func NewFactUsage() *FactUsage { return &FactUsage{Names: map[string]bool{}, Env: map[string]bool{}} }

// Note takes down a use of a variable, if it reads a fact where the text is.
func (u *FactUsage) Note(fr *Frame, v playbook.Value, ref eval.Ref) {
	u.mentioned(fr, ref)
	if !fr.mayBeFact(ref.Name) {
		return
	}
	reads := false
	fr.Each(ref.Name, func(b *Binding) bool {
		reads = b.From == "fact" || b.From == "facts"
		return b.How == NotProduced || b.Certain // another may not come to be, and what it hides counts
	})
	if !reads {
		return
	}
	name, path := ref.Name, ref.Path
	if name == "facts" {
		var ok bool
		// Which of all facts decide cannot be known, so a plan that takes all is not saved.
		if name, path, ok = step(path); !ok {
			u.Whole = v.Pos()
			return
		}
	}
	if name != "env" {
		u.Names[name] = true
		return
	}
	variable, _, ok := step(path)
	if !ok {
		u.Whole = v.Pos()
		return
	}
	// One use in the open is enough: then its value shows in the plan anyway.
	u.Env[variable] = u.Env[variable] || !u.Hiding && !ref.Secret
}

// NoteEnv takes down a use of a variable of the environment whose name is computed.
func (u *FactUsage) NoteEnv(variable string) {
	if !u.Done {
		u.Env[variable] = u.Env[variable] || !u.Hiding
	}
}

// step takes the first key off a path.
func step(path []any) (name string, rest []any, ok bool) {
	if len(path) == 0 {
		return "", nil, false
	}
	name, ok = path[0].(string)
	return name, path[1:], ok
}

func (fr *Frame) mayBeFact(name string) bool {
	if name == "facts" {
		return true
	}
	if _, ok := fr.ofFacts().FactsMap[name]; ok {
		return true
	}
	if _, ok := fr.ofFacts().Costly[name]; ok {
		return true
	}
	on := fr.Machine()
	return on != nil && on.Away && ownFacts[name] // also before the host was asked
}

// OwnFact reports whether a name of plays means nothing but a fact as moon calls it. Such a name may be used, and is not listed among the
// variables of a host: Ansible has none of that name, and some of these facts are only known in the run.
func (fr *Frame) OwnFact(name string) bool {
	if !fr.OnHost() || !fr.mayBeFact(name) {
		return false
	}
	own := false
	fr.Each(name, func(b *Binding) bool { // the first counts
		own = b.From == "fact" || b.From == "facts"
		return true
	})
	return own
}

// Calls takes down the use of a variable that says how moon was called.
func (u *FactUsage) Calls(name string) {
	if u.Done {
		return
	}
	if u.call == nil {
		u.call = map[string]bool{}
	}
	u.call[name] = true
}

// mentioned notes the facts that a text names, also where nothing reads them while planning: a condition before them may be open.
func (u *FactUsage) mentioned(fr *Frame, ref eval.Ref) {
	m := fr.Machine()
	if m == nil {
		return
	}
	m.mentionStored(ref)
	short, ok := strings.CutPrefix(ref.Name, "ansible_")
	if !ok || m.State != FactsKnown {
		return
	}
	path := ref.Path
	if short == "facts" {
		if short, path, ok = step(path); !ok {
			return // who takes all of them asks for the keys
		}
	}
	if _, ok := m.Facts[short]; !ok {
		return
	}
	m.used(short)
	if variable, _, ok := step(path); ok && short == "env" {
		EnvOf{Host: m}.Get(variable)
	}
}

// CallUsed is how moon was called, as far as a template asked while planning.
func (u *FactUsage) CallUsed(call *Invocation) map[string]any {
	var used map[string]any
	for name := range u.call {
		if used == nil {
			used = map[string]any{}
		}
		used[name] = call.Called(name)
	}
	return used
}

// mentionStored notes the facts of earlier runs that a text names, which may be read later only.
func (m *Machine) mentionStored(ref eval.Ref) {
	if len(m.Stored) == 0 {
		return
	}
	name, path := ref.Name, ref.Path
	names := []string{name}
	if name == "ansible_facts" {
		short, rest, ok := step(path)
		if !ok {
			return
		}
		names, path = []string{short, "ansible_" + short}, rest
	}
	for _, name := range names {
		if _, ok := m.Stored[name]; !ok {
			continue
		}
		m.usedStored(name)
		if variable, _, ok := step(path); ok && name == "ansible_env" {
			EnvOf{Host: m, Stored: true}.Get(variable)
		}
	}
}
