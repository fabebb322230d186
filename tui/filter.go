package tui

import (
	"strings"

	"moon/tui/standing"
)

// filter is which rows are worth seeing.
type filter uint8

const (
	filterAll filter = iota
	filterProblems
	filterChanged
	filterLeft
	filterNotable // problems and changes; the screen chooses it when a run is done
	filterFound   // what find finds
)

var filterWords = [...]string{"all", "problems", "changed", "not done", "problems and changes", "only matches"}

func (f filter) String() string { return filterWords[f] }

// next is what `f` changes to.
func (f filter) next() filter {
	if f >= filterLeft {
		return filterAll
	}
	return f + 1
}

// problem reports whether a face needs a person's eyes.
func problem(f standing.State) bool { return hasFailed(f) || asks(f) || recovered(f) }

// hasFailed reports whether a step has failed, and nothing has made up for it.
func hasFailed(f standing.State) bool { return f == standing.Failed || f == standing.Unreachable }

// asks reports whether a step waits for the answer of a person.
func asks(f standing.State) bool {
	return f == standing.Confirm || f == standing.Asking || f == standing.Outdated
}

// recovered reports whether something went wrong with a step that the run did not end for.
func recovered(f standing.State) bool {
	return f == standing.Ignored || f == standing.Rescued || f == standing.Cancelled
}

func (f filter) shows(is standing.State) bool {
	switch f {
	case filterProblems:
		return problem(is)
	case filterChanged:
		return is == standing.Changed
	case filterLeft:
		return is.Pending() || is == standing.Asking || is == standing.Running || is == standing.Omitted
	case filterNotable:
		return problem(is) && is != standing.Confirm || is == standing.Changed
	case filterAll, filterFound:
	}
	return true
}

// keep marks the nodes a filter shows, with the scopes they are in; nil shows all of them.
func (f filter) keep(t *tree, find *finder) []bool {
	if f == filterAll || f == filterFound && find.text == "" {
		return nil
	}
	keep := make([]bool, t.len())
	keep[0] = true
	for n := t.len() - 1; n > 0; n-- {
		if f == filterFound {
			keep[n] = keep[n] || find.matches(t, n)
		} else if i := t.step(n); i >= 0 {
			keep[n] = f.shows(t.faces[i]) || f == filterNotable && t.drift[i]
		}
		if keep[n] {
			keep[t.parent[n]] = true
		}
	}
	return keep
}

// finder looks for a text in the names of the tree.
type finder struct {
	text   string // lower case
	titles []string
	of     *tree
}

// matches reports whether a node's name, or its host, holds the text. The names are made lower case once for a plan, so typing
// costs one scan a key. "host:web1 nginx" is nginx on the one host.
func (f *finder) matches(t *tree, n int) bool {
	if host, text, ok := f.ofHost(); ok {
		i := t.step(n)
		return i >= 0 && (strings.EqualFold(t.plan.Steps[i].Host, host) || strings.EqualFold(t.plan.Steps[i].Delegate, host)) &&
			strings.Contains(strings.ToLower(t.title(n)), text)
	}
	if f.of != t {
		f.of, f.titles = t, make([]string, t.len())
		for i := range f.titles {
			f.titles[i] = strings.ToLower(t.title(i))
			if step := t.step(i); step >= 0 && t.over {
				f.titles[i] += "\n" + strings.ToLower(standing.On(&t.plan.Steps[step]))
			}
		}
	}
	if i := t.step(n); len(t.names) > 0 && i >= 0 && t.names[i] != "" {
		return strings.Contains(strings.ToLower(t.title(n)), f.text)
	}
	return strings.Contains(f.titles[n], f.text)
}

// ofHost takes a text apart that begins with host: and a name.
func (f *finder) ofHost() (host, text string, ok bool) {
	rest, ok := strings.CutPrefix(f.text, "host:")
	if !ok {
		return "", "", false
	}
	host, text, _ = strings.Cut(rest, " ")
	return host, strings.TrimSpace(text), true
}

// next is the nearest match from a node on, itself excluded, going round at the end; -1 if there is none.
func (f *finder) next(t *tree, from, direction int) int {
	if f.text == "" {
		return -1
	}
	for k := 1; k <= t.len(); k++ {
		n := ((from+k*direction)%t.len() + t.len()) % t.len()
		if f.matches(t, n) {
			return n
		}
	}
	return -1
}

// count is how many nodes match.
func (f *finder) count(t *tree) (n int) {
	if f.text == "" {
		return 0
	}
	for i := range t.len() {
		if f.matches(t, i) {
			n++
		}
	}
	return n
}
