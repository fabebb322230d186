package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Origin is the place a node comes from: line and column of its first key, and the including steps, outermost
// first, with their own lines ("main.yml:3").
type Origin struct {
	File   string
	Line   int
	Column int
	Chain  []string
}

// String is "file:line".
func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Full is the place with what includes it, innermost first: "tasks/install.yml:3, included from site.yml:8".
func (o Origin) Full() string {
	inner, more, outer := ShownChain(o.Chain)
	if more > 0 {
		inner = append(slices.Clip(inner), fmt.Sprintf("… %d more …", more))
	}
	chain := slices.Concat(inner, outer)
	if len(chain) == 0 {
		return o.String()
	}
	return o.String() + ", included from " + strings.Join(chain, ", from ")
}
