package tui

import (
	"fmt"
	"slices"
	"strings"

	"moon/internal/diag"
)

// setting is what a file says of the keys of an action.
type setting struct {
	do    intent
	where place   // in which of the places the action works in
	only  bool    // it says so, and wins over one that does not
	keys  []chord // none: the action has no key
	at    chord   // its name
}

// chord is a key, or several that are pressed one after the other, and where it is written.
type chord struct {
	name string
	pos  diag.Pos
}

// needed are the actions that always have a key: without one there would be no way out of something, or none to find the rest.
var needed = map[intent]string{
	goBack: "there would be no way back", runLeave: "there would be no way out", runInterrupt: "there would be no way to stop a run",
	showHelp: "there would be no way to look up the keys", showPalette: "what has no key could not be reached",
}

// interrupt is the key that interrupts whatever else is bound.
const interrupt = "ctrl+c"

// bind makes the table of keys from the usual ones and what a file says instead. A key that the file gives to one action is taken
// from the action that has it otherwise: a new version, with a new key, must not make a good file a bad one.
func bind(settings []setting) (*Keys, diag.List) {
	k, wrong := &Keys{}, diag.List{}
	for in, where := range places {
		p := placing{k: k, in: in, wrong: &wrong, given: map[string]given{}}
		for _, only := range []bool{false, true} {
			for i := range settings {
				if s := &settings[i]; s.only == only && s.where&where != 0 {
					p.own[s.do] = s
				}
			}
		}
		for i := range bindings {
			if bindings[i].where&where != 0 {
				p.ours(&bindings[i])
			}
		}
		for i := range bindings {
			if bindings[i].where&where != 0 && p.own[bindings[i].do] == nil {
				p.usual(&bindings[i])
			}
		}
		for do, why := range needed {
			if len(k.keys[in][do]) == 0 {
				p.without(do, why)
			}
		}
	}
	wrong.Sort()
	slices.Sort(k.Taken)
	k.Taken = slices.Compact(k.Taken)
	return k, wrong
}

// placing binds the keys of one place.
type placing struct {
	k     *Keys
	in    int
	own   [intents]*setting
	given map[string]given // by the file
	wrong *diag.List
}

type given struct {
	do intent
	chord
}

// ours binds what the file says of an action.
func (p *placing) ours(b *binding) {
	s := p.own[b.do]
	if s == nil {
		return
	}
	keys := s.keys
	if b.do == runInterrupt && len(keys) > 0 {
		keys = append(slices.Clone(keys), chord{interrupt, s.at.pos})
	}
	for _, c := range keys {
		if p.k.means[p.in][c.name] == b.do {
			continue // twice the same
		}
		if other, clash := p.clash(c.name); clash != "" {
			one := given{b.do, c}
			if p := other.pos; p.Line > one.pos.Line || p.Line == one.pos.Line && p.Column > one.pos.Column {
				one, other = other, one // what comes later in the file is wrong
			}
			p.wrong.Add(diag.Diagnostic{
				Pos: one.pos, Width: len(one.name), Hint: "give one of them another key",
				Message: fmt.Sprintf("`%s` cannot be %s: `%s` is %s (%s:%d)", one.name, byIntent[one.do].name, other.name, byIntent[other.do].name, other.pos.File, other.pos.Line),
			})
			continue
		}
		p.given[c.name] = given{b.do, c}
		p.k.give(p.in, b.do, c.name)
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
func (p *placing) usual(b *binding) {
	for _, name := range b.usual() {
		g, clash := p.clash(name)
		switch clash {
		case "":
			p.k.give(p.in, b.do, name)
		case "begins it":
			p.wrong.Add(diag.Diagnostic{
				Pos: g.pos, Width: len(g.name), Message: fmt.Sprintf("`%s` begins with `%s`, which is %s and would never wait for more", g.name, name, b.name),
				Hint: fmt.Sprintf("begin it with another key, or give %s another one", b.name),
			})
		default:
			p.k.Taken = append(p.k.Taken, fmt.Sprintf("`%s` was %s and is %s now", name, b.name, byIntent[g.do].name))
		}
	}
}

// without says that an action which needs a key has none.
func (p *placing) without(do intent, why string) {
	b := byIntent[do]
	if s := p.own[do]; s != nil {
		if len(s.keys) == 0 { // else it has been said what is wrong with its keys
			p.wrong.Add(diag.Diagnostic{Pos: s.at.pos, Width: len(s.at.name), Message: b.name + " needs a key: " + why, Hint: "leave it out, and it keeps " + b.keys})
		}
		return
	}
	for _, name := range b.usual() {
		if g, clash := p.clash(name); clash == "same" || clash == "begins with it" {
			p.wrong.Add(diag.Diagnostic{
				Pos: g.pos, Width: len(g.name), Message: fmt.Sprintf("`%s` is the key of %s, which needs one: %s", name, b.name, why),
				Hint: "give " + b.name + " another key too",
			})
			return
		}
	}
}
