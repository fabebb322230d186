package orphans

import (
	"slices"

	"moon/events"
	"moon/plan"
	"moon/plan/prior"
)

// before gives for each step that has made something the steps before it that have.
func before(things []prior.Thing) map[string][]string {
	m := map[string][]string{}
	for i := range things {
		if t := &things[i]; m[t.Step] == nil {
			m[t.Step] = t.After
		}
	}
	return m
}

// ancestors are all steps that are before one, however far.
func ancestors(of map[string][]string, step string) map[string]bool {
	seen := map[string]bool{}
	for todo := slices.Clone(of[step]); len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[next] && next != step {
			seen[next] = true
			todo = append(todo, of[next]...)
		}
	}
	return seen
}

// waitsOf gives for each orphan the numbers of those that must be gone before it: what was built upon it. Of things between which
// nothing was recorded none waits for another.
func waitsOf(list []plan.Orphan, all []prior.Thing) [][]int {
	of := before(all)
	at := map[string][]int{} // orphans by the step that has made them
	for i := range list {
		if list[i].Removed() { // what is not removed keeps nothing from being removed
			at[list[i].Thing.Step] = append(at[list[i].Thing.Step], i)
		}
	}
	waits := make([][]int, len(list))
	for i := range list {
		t := &list[i].Thing
		// What one step has made goes in reverse, one after the other.
		if own := at[t.Step]; len(own) > 1 {
			if j := slices.Index(own, i); j > 0 {
				waits[i] = append(waits[i], own[j-1])
			}
		}
	}
	for i := range list {
		if !list[i].Removed() {
			continue
		}
		// Only the nearest orphans: the others are waited for by those.
		todo, seen := slices.Clone(of[list[i].Thing.Step]), map[string]bool{list[i].Thing.Step: true}
		for len(todo) > 0 {
			step := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[step] {
				continue
			}
			seen[step] = true
			own, orphaned := at[step]
			if !orphaned {
				todo = append(todo, of[step]...)
				continue
			}
			// The list is reversed, so the first of the step's things goes first, and waits for this one.
			if own[0] > i {
				waits[own[0]] = append(waits[own[0]], i)
			}
		}
	}
	waitForContents(list, waits)
	for i := range waits {
		slices.Sort(waits[i])
		waits[i] = slices.Compact(waits[i])
	}
	return waits
}

// waitForContents lets files and directories wait for what is in them. Which step made what says nothing about that: one step may have
// created a file, and another may have added the line again that stands in it.
func waitForContents(list []plan.Orphan, waits [][]int) {
	files := map[prior.Key]int{}
	for i := range list {
		if t := &list[i].Thing; list[i].Removed() && t.Type == events.FileResource {
			files[t.Key()] = i
		}
	}
	for i := range list {
		t := &list[i].Thing
		if !list[i].Removed() {
			continue
		}
		// A line or a block is called by its file and what it is: "/etc/hosts: text". Neither of the two may be cut at the wrong place.
		for at, c := range t.Name {
			if c != '/' && (c != ':' || t.Type == events.FileResource) {
				continue
			}
			// What is recorded later goes first, so none of these can wait for one that waits for it.
			if file, ok := files[prior.Key{Host: t.Host, Type: events.FileResource, Name: t.Name[:at]}]; ok && file > i {
				waits[file] = append(waits[file], i)
			}
		}
	}
}

// Phases are the numbers of the orphans that are removed, before the new work or after it, by the play that has made them: the last
// play first.
func Phases(list []plan.Orphan, late bool) (phases [][]int) {
	for i := range list {
		if o := &list[i]; !o.Removed() || o.Late != late {
			continue
		}
		if n := len(phases); n == 0 || list[phases[n-1][0]].Thing.Phase != list[i].Thing.Phase {
			phases = append(phases, nil)
		}
		phases[len(phases)-1] = append(phases[len(phases)-1], i)
	}
	return phases
}

// Order lets each step that removes an orphan need those that remove what was built on it. steps are their numbers, by that of the orphan.
func Order(p *plan.Plan, steps map[int]int) {
	for i, step := range steps {
		for _, other := range p.Orphans[i].Waits {
			if before, ok := steps[other]; ok {
				s := &p.Steps[step]
				s.Needs = append(s.Needs, plan.Need{Place: plan.Place{Step: before}, On: "success"})
			}
		}
	}
}
