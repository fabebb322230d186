package vars

import "slices"

// Merging is which values of a level make one map with those of the levels below, where maps of the same name merge.
type Merging uint8

// The ways. They are those of ansible-core: what it joins with combine_vars merges, and what it puts into a dict replaces.
const (
	MergesEach      Merging = iota // all of them, also with each other
	MergesNewest                   // the one that counts: it replaces the others of its level
	MergesInnermost                // the same, and the levels of blocks and of the task are one
	MergesNever                    // none: the value hides all others
)

// Held is one of the bindings of a name, where maps of the same name merge. Of those with the same group in a row the first counts.
type Held struct {
	*Binding
	Group int
	Alone bool // it merges with nothing
}

// MergesMaps reports whether maps of the same name, from several places, make one. In Ansible that is hash_behaviour.
func (fr *Frame) MergesMaps() bool {
	return fr.All.Of != nil && fr.Scene != nil && fr.Scene.Call != nil && fr.Scene.Call.MergeMaps
}

// Stack has the bindings of a name in the order of Each, with how they merge.
func (fr *Frame) Stack(name string) (stack []Held) {
	group, alone := 0, true
	hold := func(b *Binding) bool {
		stack = append(stack, Held{b, group, alone})
		return false
	}
	each := func(b *Binding) bool {
		group++
		return hold(b)
	}
	fr.Over.eachIn(name, each)
	innermost := 0
	for _, level := range slices.Backward(Levels) {
		f := hold
		group++
		switch alone = level.merging == MergesNever; level.merging {
		case MergesEach:
			f = each
		case MergesInnermost:
			if innermost == 0 {
				innermost = group
			}
			group = innermost
		case MergesNewest, MergesNever:
		}
		at := level.in(fr, fr.Scene)
		at.layer.all(name, f)
		if at.history != nil {
			at.history.Before(name, at.moment, f)
		}
		if at.facts {
			fr.All.Of.Variable(name, fr.ProducedAt, f)
		}
	}
	// What is below would be found out, or waited for, although it cannot count.
	if !slices.ContainsFunc(stack, func(h Held) bool { return h.How == NotProduced }) {
		fr.eachBelow(name, each)
	}
	return stack
}

// all calls f with each binding of a name in a layer and those below it. A group of the inventory may have several of one name in one
// layer, from several sources.
func (l *Layer) all(name string, f func(*Binding) bool) {
	for ; l != nil; l = l.Parent {
		if l.Find(name) == nil {
			continue
		}
		for i := len(l.Binds) - 1; i >= 0; i-- {
			if l.Binds[i].Name == name {
				f(&l.Binds[i])
			}
		}
	}
}
