package plan

import (
	"sort"
)

const (
	notProduced  production = iota
	registered              // the result of the step
	collected               // the results of a loop
	assigned                // by set_fact or a late vars step; may not happen
	broken                  // the step of a block that failed, in its rescue
	measured                // when the run starts: a fact that changes
	promisedFact            // by the step that gathers facts
	relayed                 // by one of the hosts of a task with run_once
	handed                  // a fact that a task gives beside those that are gathered; may not happen
)

func (l *layer) add(b binding) {
	l.binds = append(l.binds, b)
	switch {
	case l.last != nil:
		l.last[b.name] = len(l.binds) - 1
	case len(l.binds) > fewNames:
		l.last = make(map[string]int, 2*len(l.binds))
		for i := range l.binds {
			l.last[l.binds[i].name] = i
		}
	}
}

// find is the binding of a name in this layer alone: the last one, which hides those before it.
func (l *layer) find(name string) *binding {
	if l.last != nil {
		if i, ok := l.last[name]; ok {
			return &l.binds[i]
		}
		return nil
	}
	for i := len(l.binds) - 1; i >= 0; i-- {
		if l.binds[i].name == name {
			return &l.binds[i]
		}
	}
	return nil
}

func (h *history) add(b *binding) {
	if h.versions == nil {
		h.versions = map[string][]version{}
	}
	*h.now++
	h.versions[b.name] = append(h.versions[b.name], version{at: *h.now, binding: b})
}

// forget takes the values that hold only for a time out of what comes after, if they were set after a moment.
func (h *history) forget(since int) {
	*h.now++
	for _, all := range h.versions {
		for i := range all {
			if v := &all[i]; v.at > since && v.gone == 0 && v.passing {
				v.gone = *h.now
			}
		}
	}
}

// before calls f with the versions of name as of the moment, newest first, until it returns true.
func (h *history) before(name string, moment int, f func(*binding) bool) bool {
	all := h.versions[name]
	n := sort.Search(len(all), func(i int) bool { return all[i].at > moment })
	for i := n - 1; i >= 0; i-- {
		if gone := all[i].gone; gone > 0 && gone <= moment {
			continue
		}
		if f(all[i].binding) {
			return true
		}
	}
	return false
}

// The names that tell a rescue what failed.
var (
	failedTaskNames   = []string{"failed_task", "ansible_failed_task"}
	failedResultNames = []string{"failed_result", "ansible_failed_result"}
)

// collectedInPlays is what a loop registers in a play.
func collectedInPlays(all []any, changed, failed, skipped bool) any {
	sum := map[string]any{"results": all, "changed": changed, "skipped": skipped && len(all) > 0, "msg": "All items completed"}
	switch {
	case failed:
		sum["failed"], sum["msg"] = true, "One or more items failed"
	case skipped:
		sum["msg"] = "All items skipped"
	}
	return sum
}
