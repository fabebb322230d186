package frame

import (
	"fmt"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/tree"
)

// contents counts what is in a folded scope, as its rows would say it: before anything of it has run what its steps would do, then
// how they have ended. What is worse comes first, as the last is dropped first.
func (t *treeRows) contents(n int, c *status.Tally) []field {
	if c.Done() > 0 || c[status.Running] > 0 {
		return t.outcomes(c)
	}
	m := t.m
	would := pane.Predicting{State: m}.PredictedIn(n)
	var fields []field
	add := func(n int, sign string, ink draw.Ink) {
		if n > 0 {
			fields = append(fields, field{draw.Inked(ink, fmt.Sprintf("%s%d", sign, n)), spareContents})
		}
	}
	add(would.Fail, m.Glyphs.Signs[draw.SignFailed], themes.Failed)
	add(would.Away, m.Glyphs.Signs[draw.SignUnreachable], themes.Failed)
	add(would.Create, "+", themes.DiffAdd)
	add(would.Update, m.Glyphs.Signs[draw.SignChanged], themes.Changed)
	add(would.Delete, "-", themes.DiffDel)
	if c.Total() > 0 { // otherwise the note says so
		add(int(c[status.Excluded]), m.Glyphs.Signs[draw.SignExcluded], themes.Dim)
	}
	return fields
}

// outcomes counts how the steps of a scope have ended, if in more than one way: its own sign says it if all have ended alike. What
// the note of the row counts is not repeated.
func (t *treeRows) outcomes(c *status.Tally) []field {
	ways := 0
	var fields []field
	for _, s := range [...]status.State{
		status.Failed, status.Unreachable, status.OK, status.Changed, status.Ignored, status.Rescued, status.Skipped, status.Kept,
		status.Outdated, status.Cancelled, status.Excluded,
	} {
		if c[s] == 0 {
			continue
		}
		ways++
		if int(c[s]) == c.Failed() && s.Bad() {
			continue
		}
		ink := draw.Ink(themes.Dim)
		if s.Bad() {
			ink = themes.Failed
		}
		sign := t.m.Glyphs.Signs[tree.FaceSigns[s]]
		fields = append(fields, field{draw.Inked(ink, fmt.Sprintf("%s%d", sign, c[s])), spareContents})
	}
	if ways < 2 {
		return nil
	}
	return fields
}
