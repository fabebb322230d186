package feature

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"moon/internal/lsp/index"
	"moon/internal/lsp/wire"
	"moon/plan"
	"moon/plan/playbook"
)

var (
	identifier = regexp.MustCompile(playbook.IdentifierPattern)
	handle     = regexp.MustCompile(playbook.HandlePattern)
)

// Renamable gives the range of the name at the site, or why it cannot be renamed.
func (s *Site) Renamable() (wire.Range, error) {
	m, err := s.target()
	if err != nil {
		return wire.Range{}, err
	}
	return s.Text.Span(m.At.Line, m.At.Column, m.At.Width), nil
}

// target is the variable or id at the site, if all its uses are known.
func (s *Site) target() (marked, error) {
	if len(s.Books) == 0 {
		return marked{}, fmt.Errorf("no playbook that moon knows has this file")
	}
	for _, m := range s.marks() {
		if m.Kind != index.Variable && m.Kind != index.ID {
			continue
		}
		return m, s.checkUses(m)
	}
	return marked{}, fmt.Errorf("only variables and ids can be renamed, and there is none here")
}

// checkUses says why not all uses of a name can be found.
func (s *Site) checkUses(m marked) error {
	defined := slices.ContainsFunc(s.Books, func(b *index.Book) bool {
		return slices.ContainsFunc(b.Index.Named(m.Kind, m.Name), func(one index.Mark) bool { return one.Def })
	})
	if !defined {
		return fmt.Errorf("`%s` cannot be renamed: no file of the playbook defines it", m.Name)
	}
	for _, b := range s.Books {
		if doubts := b.Doubts(); len(doubts) > 0 {
			return fmt.Errorf("`%s` cannot be renamed: not all of its uses can be found. %s", m.Name, doubts[0])
		}
		if !b.Fresh {
			return fmt.Errorf("`%s` cannot be renamed while %s has errors", m.Name, plan.ShownPath(b.Root, b.Path))
		}
		if err := s.checkOrigins(b, m); err != nil {
			return err
		}
	}
	return nil
}

// checkOrigins says whether the plan has values of a variable from places that the index does not know: an inventory, flags.
func (s *Site) checkOrigins(b *index.Book, m marked) error {
	if m.Kind != index.Variable {
		return nil
	}
	known := map[string]bool{}
	for _, d := range b.Index.Named(m.Kind, m.Name) {
		if d.Def {
			known[placeText(b, d.At)] = true
		}
	}
	for i := range b.Plan.Steps {
		for _, u := range b.Plan.Steps[i].Uses {
			where := originText(u.Origin.File, u.Origin.Line)
			if u.Name != m.Name || known[where] {
				continue
			}
			// Results and items of loops have the place of their task, which defines them by another key.
			if where == "" && (u.From == "fact" || strings.Contains(u.From, "-e")) ||
				where != "" && !b.Index.Defines(b.PathOf(u.Origin.File)) {
				return fmt.Errorf("`%s` cannot be renamed: a value comes from %s", m.Name, strings.TrimSpace(u.From+" "+where))
			}
		}
	}
	return nil
}

// Rename changes a name wherever it stands, or says why that cannot be done.
func (s *Site) Rename(to string) (*wire.WorkspaceEdit, error) {
	m, err := s.target()
	if err != nil {
		return nil, err
	}
	if m.Kind == index.Variable && !identifier.MatchString(to) || m.Kind == index.ID && !handle.MatchString(to) {
		return nil, fmt.Errorf("`%s` cannot be a name: it begins with a letter or _, and has letters, digits and _", to)
	}
	places := map[index.Place]bool{}
	for _, b := range s.Books {
		if taken := b.Index.Named(m.Kind, to); len(taken) > 0 && to != m.Name {
			return nil, fmt.Errorf("`%s` is used already, %s", to, placeText(b, taken[0].At))
		}
		if slices.Contains(b.Facts, to) && m.Kind == index.Variable {
			return nil, fmt.Errorf("`%s` is the name of a fact", to)
		}
		for _, one := range b.Index.Named(m.Kind, m.Name) {
			places[one.At] = true
		}
		if err := s.checkRest(b, m, places); err != nil {
			return nil, err
		}
	}
	edit := &wire.WorkspaceEdit{Changes: map[string][]wire.TextEdit{}}
	for _, at := range slices.SortedFunc(maps.Keys(places), comparePlaces) {
		text := s.textOf(at.Path)
		loc, ok := s.locate(at)
		// What was found must be what stands there: an escape, or a text that is folded, moves it.
		if !ok || text.String()[text.Offset(loc.Range.Start):text.Offset(loc.Range.End)] != m.Name {
			return nil, fmt.Errorf("`%s` cannot be renamed: it is not found where it is used, %s", m.Name, placeText(s.Books[0], at))
		}
		edit.Changes[loc.URI] = append(edit.Changes[loc.URI], wire.TextEdit{Range: loc.Range, NewText: to})
	}
	return edit, nil
}

func comparePlaces(a, b index.Place) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// checkRest looks at the places where the name stands and that are not known as uses. One that is a value by itself may be one: `var:`
// of print, a list of names. What is in comments, in the middle of a text, or a key, is not.
func (s *Site) checkRest(b *index.Book, m marked, known map[index.Place]bool) error {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(m.Name) + `\b`)
	for path := range b.Index.Files {
		text := s.textOf(path)
		if text == nil {
			continue
		}
		for _, found := range word.FindAllStringIndex(text.String(), -1) {
			line, column := text.Place(found[0])
			at := index.Place{Path: path, Line: line, Column: column, Width: found[1] - found[0]}
			if known[at] || !mayBeUse(text.String(), found[0], found[1]) {
				continue
			}
			return fmt.Errorf("`%s` cannot be renamed: it may be what stands in %s, too", m.Name, placeText(b, at))
		}
	}
	return nil
}

// mayBeUse reports whether a word is the beginning of a value.
func mayBeUse(text string, from, to int) bool {
	line := text[strings.LastIndexByte(text[:from], '\n')+1 : from]
	before := strings.TrimRight(strings.TrimRight(strings.TrimSpace(line), `'"`), " ")
	if strings.Contains(line, "#") || before == "" {
		return false
	}
	rest := text[to:]
	if strings.HasPrefix(strings.TrimLeft(rest, `'" `), ":") {
		return false // a key of a map
	}
	key, _, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(line), "- {"), ":")
	if key == "name" || key == "id" || key == "tags" || key == "needs" {
		return false
	}
	return strings.ContainsAny(before[len(before)-1:], ":-,[({|")
}
