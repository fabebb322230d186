package console

import (
	"fmt"
	"strings"

	"moon/events"
)

// lackingWords counts them, or "".
func (c *titles) lackingWords() string {
	n := c.lacking().Count(c.position())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d will be skipped", n)
}

// alsoSkipped says which steps are skipped along with some that are excluded, or no longer are.
func (c *titles) alsoSkipped(ranges []events.Range, excluded bool) string {
	steps, fewer := c.lacking().With(c.position(), ranges, excluded)
	word := "also skipped"
	if !excluded {
		steps, word = fewer, "no longer skipped"
	}
	if len(steps) == 0 {
		return ""
	}
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
