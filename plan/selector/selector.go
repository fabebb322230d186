package selector

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"moon/internal/diag"
	"moon/internal/suggest"
	"moon/plan"
)

// Match finds the steps a selector names, ascending. A selector is, in this order, the id of a step (step-0003) or of a
// task (`id:`), the path of a step or scope, `file:line` of the first line of either, or a name; * stands for any text
// and ? for one character of a path or name, as LANGUAGE.md §10 has it. A scope stands for every step in it. In plays @HOST stands for
// the steps of a host, and SELECTOR@HOST for those among them that the selector names.
//
// * also stands for slashes: the parts of a path are file names and names of tasks, and both may hold some.
func Match(p *plan.Plan, selector string) []int {
	m := matcher{p: p}
	// Ids and whole paths are exact, so they count before names, which may look like one.
	switch {
	case selector == "":
		return nil
	case m.steps(func(s *plan.Step) bool { return s.ID() == selector }),
		m.steps(func(s *plan.Step) bool { return s.UserID == selector }),
		m.scopes(func(s *plan.Scope) bool { return s.UserID == selector }),
		m.either(func(path, _ string, _ diag.Origin) bool { return path == selector }):
		return m.found
	}
	if m.onHost(selector) {
		return m.found
	}
	if file, line, ok := place(p, selector); ok &&
		m.either(func(_, _ string, at diag.Origin) bool { return at.File == file && at.Line == line }) {
		return m.found
	}
	if m.either(func(_, name string, _ diag.Origin) bool { return name == selector }) || !strings.ContainsAny(selector, "*?") {
		return m.found
	}
	glob := globPattern(selector)
	m.either(func(path, name string, _ diag.Origin) bool { return glob.MatchString(path) || glob.MatchString(name) })
	return m.found
}

// matcher collects the steps that have some property, or lie in a scope that has it.
type matcher struct {
	p     *plan.Plan
	found []int
}

func (m *matcher) steps(is func(*plan.Step) bool) bool {
	for i := range m.p.Steps {
		if is(&m.p.Steps[i]) {
			m.found = append(m.found, i)
		}
	}
	return len(m.found) > 0
}

// onHost reads @HOST, all steps of a host, and SELECTOR@HOST, those of its steps that the rest names.
func (m *matcher) onHost(selector string) bool {
	// The last @: what is before it may be a path, which has one in front of its host.
	i := strings.LastIndexByte(selector, '@')
	if i < 0 || i == len(selector)-1 {
		return false
	}
	rest, host := selector[:i], globPattern(selector[i+1:])
	named := map[int]bool{}
	for _, step := range Match(m.p, rest) {
		named[step] = true
	}
	return m.steps(func(s *plan.Step) bool { return host.MatchString(s.Host) && (rest == "" || named[s.Index]) })
}

func (m *matcher) either(is func(path, name string, at diag.Origin) bool) bool {
	m.steps(func(s *plan.Step) bool {
		// The name alone is that of all steps of a loop; with the item it is that of one.
		return is(s.Path, s.Title(), s.Origin) || s.Loop != nil && is(s.Path, s.Label(s.Title()), s.Origin)
	})
	return m.scopes(func(s *plan.Scope) bool { return is(s.Path, s.Name, s.Origin) })
}

// scopes takes the steps in each scope that has a property, with what is found already.
func (m *matcher) scopes(is func(s *plan.Scope) bool) bool {
	for id := range m.p.Scopes {
		s := &m.p.Scopes[id]
		if !is(s) {
			continue
		}
		for i := s.First; i < s.Last; i++ {
			m.found = append(m.found, i)
		}
	}
	slices.Sort(m.found)
	m.found = slices.Compact(m.found)
	return len(m.found) > 0
}

// place reads file:line. The file may be written as the plan shows it, or relative to the working directory.
func place(p *plan.Plan, selector string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(selector, ':')
	if i < 1 {
		return "", 0, false
	}
	line, err := strconv.Atoi(selector[i+1:])
	if err != nil || line < 1 {
		return "", 0, false
	}
	file = filepath.ToSlash(filepath.Clean(selector[:i]))
	if _, shown := p.Files[file]; shown {
		return file, line, true
	}
	full := file
	if !filepath.IsAbs(full) {
		full = filepath.Join(p.Dir, full)
	}
	// The root of a plan has no links in it, so this path may have none either.
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	return plan.ShownPath(p.Root, full), line, true
}

// globPattern makes a pattern of a glob. Brackets and braces stand for themselves: paths are full of both.
func globPattern(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, r := range glob {
		switch r {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteString(`.`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// NoMatch words that a selector names nothing, and what may have been meant.
func NoMatch(p *plan.Plan, selector string) (message, hint string) {
	if selector == "" {
		return "the selector is empty", "give an id, a path, a name (* stands for any text) or file:line"
	}
	message = "no step is `" + selector + "`"
	if file, line, ok := place(p, selector); ok {
		return "no step begins at " + selector, nearLine(p, file, line)
	}
	if strings.HasPrefix(selector, "step-") && len(p.Steps) > 0 {
		return message, "the plan has " + p.Steps[0].ID() + " to " + p.Steps[len(p.Steps)-1].ID()
	}
	var known []string
	for i := range p.Steps {
		s := &p.Steps[i]
		known = append(known, s.Title(), s.Path, s.UserID)
	}
	for _, s := range p.Scopes {
		known = append(known, s.Name, s.Path, s.UserID)
	}
	places := ToCome(p, selector)
	for _, i := range places {
		if s := &p.Steps[i]; s.Open() && s.Loops() && !s.Place.Group {
			return message, "the rounds of " + p.StepRef(i) + " are in the plan when the run has found its items; until then name the loop, " + s.ID()
		}
	}
	switch hint = suggest.DidYouMean(selector, known); {
	case hint != "":
	case len(places) > 0:
		hint = p.StepRef(places[0]) + " may add it, but not before the run gets there"
	default:
		hint = "give an id, a path, a name (* stands for any text) or file:line; moon plan --flat lists the steps"
	}
	return message, hint
}

// nearLine names the step that begins above a line, which is the one a person who looks at the line means.
func nearLine(p *plan.Plan, file string, line int) string {
	if _, ok := p.Files[file]; !ok {
		names := plan.SortedKeys(p.Files)
		if hint := suggest.DidYouMean(file, names); hint != "" {
			return hint
		}
		return "the plan is made from " + strings.Join(names[:min(len(names), 8)], ", ")
	}
	best := -1
	for i := range p.Steps {
		if o := p.Steps[i].Origin; o.File == file && o.Line < line && (best < 0 || o.Line > p.Steps[best].Origin.Line) {
			best = i
		}
	}
	if best < 0 {
		return "moon plan --flat lists where every step begins"
	}
	return fmt.Sprintf("did you mean `%s`? %s begins there", p.Steps[best].Origin, p.StepRef(best))
}

// Dependents are the steps, and those that need one of them or use its values, in turn.
func Dependents(p *plan.Plan, of []int) []int {
	found := map[int]bool{}
	for _, i := range of {
		found[i] = true
	}
	is := func(i int) bool { return found[i] }
	for i := range p.Steps { // a step depends on those before it
		s := &p.Steps[i]
		needs := slices.ContainsFunc(p.NeedsOf(i), func(n plan.Need) bool {
			if n.Scope <= 0 {
				return found[n.Step]
			}
			for j := p.Scopes[n.Scope].First; j < p.Scopes[n.Scope].Last; j++ {
				if found[j] {
					return true
				}
			}
			return false
		})
		uses := slices.ContainsFunc(s.Unknowns, func(u plan.Unknown) bool { return slices.ContainsFunc(u.Steps, is) })
		if needs || uses || slices.ContainsFunc(s.Task.Took, is) {
			found[i] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Portable are selectors that mean the same in another working directory.
func Portable(p *plan.Plan, selectors []string) []string {
	var list []string
	for _, selector := range selectors {
		m := matcher{p: p}
		switch file, line, ok := place(p, selector); {
		case !ok,
			m.steps(func(s *plan.Step) bool { return s.ID() == selector || s.UserID == selector }),
			m.scopes(func(s *plan.Scope) bool { return s.UserID == selector }),
			m.either(func(path, _ string, _ diag.Origin) bool { return path == selector }):
		case m.either(func(_, _ string, at diag.Origin) bool { return at.File == file && at.Line == line }):
			selector = fmt.Sprintf("%s:%d", file, line)
		}
		list = append(list, selector)
	}
	return list
}
