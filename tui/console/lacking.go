package console

import (
	"fmt"
	"slices"
	"strings"

	"moon/events"
)

// lackingWords counts them, or "".
func (c *titles) lackingWords() string {
	n := 0
	for i := range c.lackingSteps() {
		if c.State(i).Pending() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d will be skipped", n)
}

// alsoSkipped says which steps are skipped along with some that are excluded, or no longer are.
func (c *titles) alsoSkipped(ranges []events.Range, excluded bool) string {
	before := c.lackingSteps()
	after := c.lackingWith(ranges, excluded)
	word := "also skipped"
	if !excluded {
		before, after, word = after, before, "no longer skipped"
	}
	var steps []int
	for i := range after {
		if _, had := before[i]; !had && c.State(i).Pending() {
			steps = append(steps, i)
		}
	}
	if len(steps) == 0 {
		return ""
	}
	slices.Sort(steps)
	const most = 5
	var names []string
	for _, i := range steps[:min(len(steps), most)] {
		names = append(names, c.called(i))
	}
	if more := len(steps) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	uses := "that use its result"
	if len(steps) == 1 {
		uses = "that uses its result"
	}
	return fmt.Sprintf("%s: %s %s: %s", word, count(len(steps), "step"), uses, strings.Join(names, ", "))
}
