package keymap

import (
	"fmt"
	"slices"
	"strings"

	"moon/internal/diag"
)

// setting is what a file says of the keys of an action.
type setting struct {
	do    Intent
	where Place   // in which of the places the action works in
	only  bool    // it says so, and wins over one that does not
	keys  []chord // none: the action has no key
	at    chord   // its name
}

// chord is a key, or several that are pressed one after the other, and where it is written.
type chord struct {
	name string
	pos  diag.Pos
}

// Needed are the actions that always have a key: without one no way out would be left of something, or none to find the rest.
var Needed = map[Intent]string{
	GoBack: "no way back would be left", RunLeave: "no way out would be left", RunInterrupt: "no way to stop a run would be left",
	ShowHelp: "no way to look up the keys would be left", ShowPalette: "what has no key could not be reached",
}

// interrupt is the key that interrupts whatever else is bound.
const interrupt = "ctrl+c"

// bind makes the table of keys from the usual ones and what a file says instead. A key that the file gives to one action is taken
// from the action that has it otherwise: a new version, with a new key, must not make a good file a bad one.
func bind(settings []setting) (*Keys, diag.List) {
	k, wrong := &Keys{}, diag.List{}
	for in, where := range Places {
		p := placing{k: k, in: in, wrong: &wrong, given: map[string]given{}}
		// Those for one place come second and overwrite those for all.
		for _, only := range []bool{false, true} {
			for i := range settings {
				if s := &settings[i]; s.only == only && s.where&where != 0 {
					p.own[s.do] = s
				}
			}
		}
		for i := range Bindings {
			if Bindings[i].Where&where != 0 {
				// All keys of the file first: usual ones get what these have not taken.
				p.ours(&Bindings[i])
			}
		}
		for i := range Bindings {
			if Bindings[i].Where&where != 0 && p.own[Bindings[i].Do] == nil {
				p.usual(&Bindings[i])
			}
		}
		// In each place, as a way out that works in the tree does not help in the output.
		for do, why := range Needed {
			if len(k.Keys[in][do]) == 0 {
				p.without(do, why)
			}
		}
	}
	wrong.Sort()
	slices.Sort(k.Taken)
	// Each of the places has found the same key taken.
	k.Taken = slices.Compact(k.Taken)
	return k, wrong
}

// placing binds the keys of one place.
type placing struct {
	k     *Keys
	in    int
	own   [Intents]*setting
	given map[string]given // by the file
	wrong *diag.List
}

type given struct {
	do Intent
	chord
}

// ours binds what the file says of an action.
func (p *placing) ours(b *Binding) {
	s := p.own[b.Do]
	if s == nil {
		return
	}
	keys := s.keys
	if b.Do == RunInterrupt && len(keys) > 0 {
		// ctrl+c interrupts whatever other keys the file gives it.
		keys = append(slices.Clone(keys), chord{interrupt, s.at.pos})
	}
	for _, c := range keys {
		if p.k.Means[p.in][c.name] == b.Do {
			continue // twice the same
		}
		if other, clash := p.clash(c.name); clash != "" {
			one := given{b.Do, c}
			if p := other.pos; p.Line > one.pos.Line || p.Line == one.pos.Line && p.Column > one.pos.Column {
				one, other = other, one // what comes later in the file is wrong
			}
			p.wrong.Add(diag.Diagnostic{
				Pos: one.pos, Width: len(one.name), Hint: "give one of them another key",
				Message: fmt.Sprintf("`%s` cannot be %s: `%s` is %s (%s:%d)", one.name, ByIntent[one.do].Name, other.name,
					ByIntent[other.do].Name, other.pos.File, other.pos.Line),
			})
			continue
		}
		p.given[c.name] = given{b.Do, c}
		p.k.give(p.in, b.Do, c.name)
	}
}

// clash finds a key of the file that is the same, or with which one of the two begins.
func (p *placing) clash(name string) (other given, clash string) {
	if g, ok := p.given[name]; ok {
		return g, "same"
	}
	for have, g := range p.given {
		if other.name != "" && other.name <= have {
			continue // any would do, but always the same
		}
		switch {
		case strings.HasPrefix(name, have+" "):
			other, clash = g, "begins with it"
		case strings.HasPrefix(have, name+" "):
			other, clash = g, "begins it"
		}
	}
	return other, clash
}

// usual binds the usual keys of an action, as far as the file has left them.
func (p *placing) usual(b *Binding) {
	for _, name := range b.Usual() {
		g, clash := p.clash(name)
		switch clash {
		case "":
			p.k.give(p.in, b.Do, name)
		case "begins it":
			p.wrong.Add(diag.Diagnostic{
				Pos: g.pos, Width: len(g.name),
				Message: fmt.Sprintf("`%s` begins with `%s`, which is %s and would never wait for more", g.name, name, b.Name),
				Hint:    fmt.Sprintf("begin it with another key, or give %s another one", b.Name),
			})
		default:
			p.k.Taken = append(p.k.Taken, fmt.Sprintf("`%s` was %s and is %s now", name, b.Name, ByIntent[g.do].Name))
		}
	}
}

// without says that an action which needs a key has none.
func (p *placing) without(do Intent, why string) {
	b := ByIntent[do]
	if s := p.own[do]; s != nil {
		if len(s.keys) == 0 { // else it has been said what is wrong with its keys
			p.wrong.Add(diag.Diagnostic{
				Pos: s.at.pos, Width: len(s.at.name), Message: b.Name + " needs a key: " + why,
				Hint: "remove it; then it keeps " + b.Keys,
			})
		}
		return
	}
	for _, name := range b.Usual() {
		if g, clash := p.clash(name); clash == "same" || clash == "begins with it" {
			p.wrong.Add(diag.Diagnostic{
				Pos: g.pos, Width: len(g.name), Message: fmt.Sprintf("`%s` is the key of %s, which needs one: %s", name, b.Name, why),
				Hint: "give " + b.Name + " another key too",
			})
			return
		}
	}
}
