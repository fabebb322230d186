package lines

import (
	"crypto/sha1" // it tells texts apart, and protects nothing
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"moon/exec/spec"
)

// PutBlock puts the block in the place of the one between the markers, or where the anchor is.
func PutBlock(text string, args *spec.BlockinfileArgs) (Edited, error) {
	d := Read(text)
	from, to, found := d.findBlock(args.Begin, args.End)
	if args.State == "absent" || args.Block == "" {
		if !found {
			return Edited{Text: text}, nil
		}
		if is := Digest(d.Between(from, to)); args.Checksum != "" && is != args.Checksum {
			return Edited{}, fmt.Errorf("the block in %s has been edited since moon left it: its checksum is %s, not %s; "+
				"save what you need and remove it without `checksum`, or keep it", args.Path, is, args.Checksum)
		}
		d.removeBlock(from, to, args.Space)
		return Edited{Text: d.String(), Says: "Block removed"}, nil
	}
	if !found {
		var err error
		if from, err = d.blockAnchor(args.Anchor); err != nil {
			return Edited{}, err
		}
		to = from
	}
	lines := []string{args.Begin}
	for l := range strings.Lines(args.Block) {
		lines = append(lines, WithoutEnd(l))
	}
	lines = append(lines, args.End)
	// Lines that are right keep their ends, even where those are mixed.
	if now := d.Between(from, to); !slices.Equal(now, lines) {
		d.Put(from, to, lines...)
	}
	e := Edited{Says: "Block inserted", Created: !found, Digest: Digest(lines)}
	end := from + len(lines)
	if args.Append && end < len(d.Lines) && d.Line(end) != "" {
		d.Put(end, end, "")
		e.Space = "below"
	}
	if args.Prepend && from > 0 && d.Line(from-1) != "" {
		d.Put(from, from, "")
		e.Space = map[string]string{"": "above", "below": "both"}[e.Space]
	}
	e.Text = d.String()
	return e, nil
}

// removeBlock takes a block out, and the empty lines next to it that were put there with it.
func (d *Text) removeBlock(from, to int, space string) {
	if (space == "below" || space == "both") && to < len(d.Lines) && d.Line(to) == "" {
		to++
	}
	if (space == "above" || space == "both") && from > 0 && d.Line(from-1) == "" {
		from--
	}
	d.Put(from, to)
}

// Digest tells whether lines are still the same.
func Digest(lines []string) string {
	sum := sha1.Sum([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// findBlock finds the lines between two markers, with them: the last beginning that has an end, and the nearest one. A
// marker without the other is a line like any other, so that nothing is lost where somebody has removed one.
func (d *Text) findBlock(begin, end string) (from, to int, found bool) {
	open := -1
	for i := range d.Lines {
		switch d.Line(i) {
		case begin:
			open = i
		case end:
			if open >= 0 {
				from, to, found = open, i+1, true
			}
			open = -1
		}
	}
	return from, to, found
}

// blockAnchor is anchor, for a pattern that may be for the whole text.
func (d *Text) blockAnchor(at spec.Anchor) (int, error) {
	if !at.Whole {
		return d.findAnchor(at, false)
	}
	text := strings.Join(d.Lines, "")
	m, err := at.Line.Find(text)
	switch {
	case m == nil:
		return len(d.Lines), err
	case at.Before:
		return strings.Count(text[:m[0]], "\n"), nil
	}
	return min(strings.Count(text[:m[1]], "\n")+1, len(d.Lines)), nil
}

// Between are the lines of a part, without their ends.
func (d *Text) Between(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, d.Line(i))
	}
	return all
}
