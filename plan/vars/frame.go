package vars

import (
	"slices"
	"sort"
)

// How a value is produced while the run goes on.
const (
	NotProduced  Production = iota
	Registered              // the result of the step
	Collected               // the results of a loop
	Assigned                // by set_fact or a late vars step; may not happen
	Broken                  // the step of a block that failed, in its rescue
	BrokenOnHost            // the same, of steps that a host runs one after the other
	Measured                // when the run starts: a fact that changes
	PromisedFact            // by the step that gathers facts
	Relayed                 // by one of the hosts of a task with run_once
	Handed                  // a fact that a task gives beside those that are gathered; may not happen
	Promised                // by what the step of an open place will find; then the plan has what sets it
)

// Add puts a binding above those that are there.
func (l *Layer) Add(b Binding) {
	l.Binds = append(l.Binds, b)
	switch {
	case l.Last != nil:
		l.Last[b.Name] = len(l.Binds) - 1
	case len(l.Binds) > fewNames:
		l.Last = make(map[string]int, 2*len(l.Binds))
		for i := range l.Binds {
			l.Last[l.Binds[i].Name] = i
		}
	}
}

// Find is the binding of a name in this layer alone: the last one, which hides those before it.
func (l *Layer) Find(name string) *Binding {
	if l.Last != nil {
		if i, ok := l.Last[name]; ok {
			return &l.Binds[i]
		}
		return nil
	}
	for i := len(l.Binds) - 1; i >= 0; i-- {
		if l.Binds[i].Name == name {
			return &l.Binds[i]
		}
	}
	return nil
}

// Add sets a name from now on.
func (h *History) Add(b *Binding) {
	if h.Versions == nil {
		h.Versions = map[string][]Version{}
	}
	// Each binding has a moment of its own: a frame sees what was set before its step, and nothing after it.
	*h.Now++
	h.Versions[b.Name] = append(h.Versions[b.Name], Version{At: *h.Now, Binding: b})
}

// Forget takes the values that hold only for a time out of what comes after, if they were set after a moment.
func (h *History) Forget(since int) {
	*h.Now++
	for _, all := range h.Versions {
		for i := range all {
			if v := &all[i]; v.At > since && v.gone == 0 && v.Passing {
				v.gone = *h.Now
			}
		}
	}
}

// EndShown takes what roles have shown to the rest of their play out of what comes after it.
func (g *Globals) EndShown() {
	for _, h := range []*History{&g.ShownVars, &g.ShownDefaults} {
		if len(h.Versions) == 0 {
			continue
		}
		*h.Now++
		for _, all := range h.Versions {
			for i := len(all) - 1; i >= 0 && all[i].gone == 0; i-- {
				all[i].gone = *h.Now
			}
		}
	}
}

// Doubt says that what has been set since a moment may not happen.
func (h *History) Doubt(since int) {
	for _, versions := range h.Versions {
		for _, v := range versions {
			if v.At > since {
				// Later plays may use the name too, so the binding stays: only what was certain of it goes.
				v.Certain, v.Early = false, false
			}
		}
	}
}

// Before calls f with the versions of name as of the moment, newest first, until it returns true.
func (h *History) Before(name string, moment int, f func(*Binding) bool) bool {
	for _, v := range slices.Backward(h.versionsBefore(name, moment)) {
		if v.gone > 0 && v.gone <= moment {
			continue
		}
		if f(v.Binding) {
			return true
		}
	}
	return false
}

// beforeOfBoth is Before for a name in two histories of one clock, of which the newer version counts.
func beforeOfBoth(a, b *History, name string, moment int, f func(*Binding) bool) bool {
	left, right := a.versionsBefore(name, moment), b.versionsBefore(name, moment)
	for len(left)+len(right) > 0 {
		from := &left
		if len(left) == 0 || len(right) > 0 && right[len(right)-1].At > left[len(left)-1].At {
			from = &right
		}
		v := (*from)[len(*from)-1]
		*from = (*from)[:len(*from)-1]
		if (v.gone == 0 || v.gone > moment) && f(v.Binding) {
			return true
		}
	}
	return false
}

// versionsBefore are the versions of a name as of a moment, oldest first.
func (h *History) versionsBefore(name string, moment int) []Version {
	all := h.Versions[name]
	return all[:sort.Search(len(all), func(i int) bool { return all[i].At > moment })]
}

// The names that tell a rescue what failed.
var (
	FailedTaskNames   = []string{"failed_task", "ansible_failed_task"}
	FailedResultNames = []string{"failed_result", "ansible_failed_result"}
)
