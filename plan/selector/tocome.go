package selector

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"moon/plan"
)

// ToCome are the open places of a plan that may add a step that a selector names, which none does yet: a round of a loop by its name or
// path, and whatever there is in a file, a role or on a host that only the run knows. Places that the run has opened count, too: what a
// person has named before stays named. A number never comes, as numbers are those of one plan.
func ToCome(p *plan.Plan, selector string) (places []int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; !s.Excluded && (s.Place != nil || s.Adds != nil) && mayAdd(s, selector) {
			places = append(places, i)
		}
	}
	return places
}

// mayAdd reports whether steps that a place adds may be called that.
func mayAdd(s *plan.Step, selector string) bool {
	switch {
	case selector == "" || strings.HasPrefix(selector, "step-"):
		return false
	// What is in it is not known, or which hosts its rounds add.
	case s.Adds != nil || !s.Loops(), s.Place.Group, s.Place.Action == "add_host", s.Place.Action == "group_by":
		return true
	}
	// Of a round everything is known but its item.
	literal := selector
	if i := strings.IndexAny(selector, "*?"); i >= 0 {
		literal = selector[:i]
	}
	base, _ := baseOf(s)
	return slices.ContainsFunc([]string{s.Title() + " (", base + "#", base + "/", base + "@"}, func(begin string) bool {
		return strings.HasPrefix(literal, begin) || len(literal) < len(selector) && strings.HasPrefix(begin, literal)
	})
}

// baseOf is what the paths of the steps that a place adds begin with, and the host at the end of its own.
func baseOf(s *plan.Step) (base, host string) {
	base = strings.TrimSuffix(s.Path, "?")
	if s.Host != "" && strings.HasSuffix(base, "@"+s.Host) {
		return strings.TrimSuffix(base, "@"+s.Host), "@" + s.Host
	}
	return base, ""
}

// Added are the steps of a plan that were added by its step, which stands for a place that the run has opened.
func Added(p *plan.Plan, place int) (steps []int) {
	at := &p.Steps[place]
	if at.Place == nil || !at.Place.Opened {
		return nil
	}
	base, host := baseOf(at)
	for i := place + 1; i < len(p.Steps); i++ {
		rest, is := strings.CutPrefix(p.Steps[i].Path, base)
		inside := strings.HasPrefix(rest, "?") || strings.HasPrefix(rest, host+"#") || at.Loops() && strings.HasPrefix(rest, "/")
		if is && inside && p.Steps[i].Host == at.Host {
			steps = append(steps, i)
		}
	}
	return steps
}

// Pinned are selectors that still mean the same in another working directory, and when the run has added steps to the plan: the number of
// a step becomes its path.
func Pinned(p *plan.Plan, selectors []string) []string {
	selectors = Portable(p, selectors)
	for i, text := range selectors {
		// A file that the plan does not have yet is below its root or elsewhere; which directory it was written in is forgotten.
		if file, line, ok := place(p, text); ok && len(Match(p, text)) == 0 && !filepath.IsAbs(file) {
			selectors[i] = fmt.Sprintf("%s:%d", filepath.Join(p.Root, file), line)
		}
		if !strings.HasPrefix(text, "step-") {
			continue
		}
		id, host := text, ""
		if at := strings.IndexByte(text, '@'); at >= 0 {
			id, host = text[:at], text[at:]
		}
		if step := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID() == id }); step >= 0 {
			selectors[i] = p.Steps[step].Path + host
		}
	}
	return selectors
}
