package view

import (
	"strings"

	"moon/events"
)

// DiffLines keeps what takes time to find out about diffs: a frame asks for it each time. Diffs are compared by their pointers, as
// comparing long texts would cost as much.
type DiffLines struct {
	of    *events.Diff
	lines []string

	shape   DiffShape
	heights []diffHeight  // by step
	keys    map[int]alike // by step
}

// DiffShape is all that the height of a diff on the screen depends on, but for the diff itself.
type DiffShape struct {
	W    int
	Wrap bool
}

type diffHeight struct {
	diff  *events.Diff
	lines int
}

type alike struct {
	diff *events.Diff
	key  string
}

// SplitDiff returns the lines of a diff. A diff that was shown last is not split again.
func (c *DiffLines) SplitDiff(diff *events.Diff) []string {
	if c.of != diff {
		c.of, c.lines = diff, strings.Split(strings.TrimRight(diff.Text, "\n"), "\n")
	}
	return c.lines
}

// Height is how many lines the diff of a step takes. It is counted once for each shape.
func (c *DiffLines) Height(step int, diff *events.Diff, shape DiffShape, count func() int) int {
	if c.shape != shape {
		c.shape, c.heights = shape, nil
	}
	if step >= len(c.heights) {
		c.heights = append(c.heights, make([]diffHeight, step+1-len(c.heights))...)
	}
	h := &c.heights[step]
	if h.diff != diff {
		*h = diffHeight{diff, count()}
	}
	return h.lines
}

// AlikeKey is the key of the diff of a step, made once. See known.Run.AlikeKey.
func (c *DiffLines) AlikeKey(step int, diff *events.Diff, key func(step int, diff *events.Diff) string) string {
	if k, ok := c.keys[step]; ok && k.diff == diff {
		return k.key
	}
	if c.keys == nil {
		c.keys = map[int]alike{}
	}
	k := alike{diff, key(step, diff)}
	c.keys[step] = k
	return k.key
}
