package tree

import (
	"strings"

	"moon/tui/status"
)

// Filter is which rows are worth seeing.
type Filter uint8

// The filters, in the order in which the key goes through them.
const (
	FilterAll Filter = iota
	FilterProblems
	FilterChanged
	FilterLeft
	FilterNotable // problems and changes; the screen chooses it when a run is done
	FilterFound   // what find finds
)

var filterWords = [...]string{"all", "problems", "changed", "not done", "problems and changes", "only matches"}

func (f Filter) String() string { return filterWords[f] }

// Next is what `f` changes to.
func (f Filter) Next() Filter {
	if f >= FilterLeft {
		return FilterAll
	}
	return f + 1
}

// problem reports whether a face needs a person's eyes.
func problem(f status.State) bool { return HasFailed(f) || Asks(f) || Recovered(f) }

// HasFailed reports whether a step has failed, and nothing has made up for it.
func HasFailed(f status.State) bool { return f == status.Failed || f == status.Unreachable }

// Asks reports whether a step waits for the answer of a person.
func Asks(f status.State) bool {
	return f == status.Confirm || f == status.Asking || f == status.Outdated
}

// Recovered reports whether something went wrong with a step that the run did not end for.
func Recovered(f status.State) bool {
	return f == status.Ignored || f == status.Rescued || f == status.Cancelled
}

// Shows reports whether steps of a state are shown.
func (f Filter) Shows(is status.State) bool {
	switch f {
	case FilterProblems:
		return problem(is)
	case FilterChanged:
		return is == status.Changed
	case FilterLeft:
		return is.Pending() || is == status.Asking || is == status.Running || is == status.Omitted
	case FilterNotable:
		return problem(is) && is != status.Confirm || is == status.Changed
	case FilterAll, FilterFound:
	}
	return true
}

// Keep marks the nodes a filter shows, with the scopes they are in; nil shows all of them.
func (f Filter) Keep(t *Tree, find *Finder) []bool {
	if f == FilterAll || f == FilterFound && find.Text == "" {
		return nil
	}
	keep := make([]bool, t.Len())
	// The root always shows, so that the cursor has a row.
	keep[0] = true
	// From the end, so that children come before what they are in.
	for n := t.Len() - 1; n > 0; n-- {
		if f == FilterFound {
			keep[n] = keep[n] || find.matches(t, n)
		} else if i := t.Step(n); i >= 0 {
			keep[n] = f.Shows(t.Faces[i]) || f == FilterNotable && t.Drift[i]
		}
		if keep[n] {
			keep[t.Parent[n]] = true
		}
	}
	return keep
}

// Finder looks for a text in the names of the tree.
type Finder struct {
	Text   string // lower case
	titles []string
	of     *Tree
}

// matches reports whether a node's name, or its host, holds the text. The names are made lower case once for a plan, so typing
// costs one scan a key. "host:web1 nginx" is nginx on the one host.
func (f *Finder) matches(t *Tree, n int) bool {
	if host, text, ok := f.ofHost(); ok {
		i := t.Step(n)
		return i >= 0 && (strings.EqualFold(t.Plan.Steps[i].Host, host) || strings.EqualFold(t.Plan.Steps[i].Delegate, host)) &&
			strings.Contains(strings.ToLower(t.Title(n)), text)
	}
	if f.of != t {
		f.of, f.titles = t, make([]string, t.Len())
		for i := range f.titles {
			f.titles[i] = strings.ToLower(t.Title(i))
			if step := t.Step(i); step >= 0 && t.Over {
				f.titles[i] += "\n" + strings.ToLower(status.On(&t.Plan.Steps[step]))
			}
		}
	}
	// A name that became known since is not among those that were made lower case.
	if i := t.Step(n); len(t.names) > 0 && i >= 0 && t.names[i] != "" {
		return strings.Contains(strings.ToLower(t.Title(n)), f.Text)
	}
	return strings.Contains(f.titles[n], f.Text)
}

// ofHost takes a text apart that begins with host: and a name.
func (f *Finder) ofHost() (host, text string, ok bool) {
	rest, ok := strings.CutPrefix(f.Text, "host:")
	if !ok {
		return "", "", false
	}
	host, text, _ = strings.Cut(rest, " ")
	return host, strings.TrimSpace(text), true
}

// Next is the nearest match from a node on, itself excluded, going round at the end; -1 if there is none.
func (f *Finder) Next(t *Tree, from, direction int) int {
	if f.Text == "" {
		return -1
	}
	for k := 1; k <= t.Len(); k++ {
		// Go's remainder may be negative.
		n := ((from+k*direction)%t.Len() + t.Len()) % t.Len()
		if f.matches(t, n) {
			return n
		}
	}
	return -1
}

// Count is how many nodes match.
func (f *Finder) Count(t *Tree) (n int) {
	if f.Text == "" {
		return 0
	}
	for i := range t.Len() {
		if f.matches(t, i) {
			n++
		}
	}
	return n
}
