package plan

import (
	"path/filepath"
	"sync"

	"moon/plan/called"
	"moon/plan/reread"
	"moon/plan/source"
	"moon/plan/vars"
	"moon/secret"
)

// Basis is what a plan was made from.
type Basis struct {
	O       Options
	Disk    *source.Disk
	Facts   *vars.FactUsage
	Names   *vars.Globals
	Secrets *secret.Set     // what planning has read
	Rereads *reread.Sources // of the inventory, which a step of the run reads again; nil if none does
	saved   bool            // its texts are used in the run, and not what their files say now
	renewed sync.Map        // but for these, which the run has changed: by path

	Called called.Notes // in Python

	looking   sync.Mutex
	decided   []Input // what deciding gave last, of so many files
	decidedOf int

	// Of plays.
	Machines map[string]*vars.Machine
	Limited  bool // hosts were chosen, of which --limit may exclude some
	Prompts  []Prompt
}

// TakeAsSaved makes the run use the texts that the plan was made from, whatever their files say now.
func (p *Plan) TakeAsSaved() { p.Basis.saved = true }

// AsksHosts reports whether anything in the playbook is about hosts of an inventory.
func (p *Plan) AsksHosts() bool { return p.Basis.Machines != nil }

// ChoosesHosts reports whether the playbook says for which hosts something is, so that --limit has a meaning.
func (p *Plan) ChoosesHosts() bool { return p.Basis.Limited }

// Saved is the text of a file that the plan was made from, if it is to be used in the place of what is there now.
func (p *Plan) Saved(path string) (text []byte, ok bool) {
	f := p.Basis.Disk.Files[filepath.Clean(path)]
	if _, renewed := p.Basis.renewed.Load(filepath.Clean(path)); !p.Basis.saved || f == nil || renewed {
		return nil, false
	}
	return f.Text, true
}

// Renew says that a step of the run has changed a file: what is there counts, and not what a saved plan holds.
func (p *Plan) Renew(path string) { p.Basis.renewed.Store(filepath.Clean(path), true) }

// SourceOf is what a step reads at a path, as the plan was made with it; nil if no step does.
func (p *Plan) SourceOf(path string, parts bool) *source.Source {
	if seen := p.Basis.Disk.Reads[source.ReadKey{Path: path, Parts: parts}]; seen != nil {
		return seen.Source
	}
	return nil
}

// Again are the options the plan was made with.
func (p *Plan) Again() Options { return p.Basis.again() }

// again are the options of a plan that a run replaces. What was found while planning counts: by now steps may have changed it.
func (m *Basis) again() Options {
	o := m.O
	o.Outside.Probe = nil
	return o
}

// KnownFacts are the facts of the hosts that have given them.
func (m *Basis) KnownFacts() map[string]map[string]any {
	known := map[string]map[string]any{}
	for name, host := range m.Machines {
		if host.State == vars.FactsKnown {
			known[name] = host.Facts
		}
	}
	return known
}

// Shown is a path as people see it: relative to the playbook's directory if it lies below.
func (p *Plan) Shown(path string) string { return ShownPath(p.Root, path) }

// Answers are what was answered to the questions of the playbook (vars_prompt), by name. A plan that is made again with them in
// Options.Answers asks no more.
func (p *Plan) Answers() map[string]string { return p.Basis.O.Values.Answers }
