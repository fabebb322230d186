package console

import (
	"fmt"
	"strings"
	"unicode"

	"moon/events"
	"moon/plan/selector"
)

// finder finds what a command is about.
type finder struct{ *titles }

// findTargets finds what a command is about: numbers of the plan, all, or whatever else names steps (an id, a path, a name,
// file:line). single says that it is exactly one step, by its own name. why says what is wrong.
func (c *finder) findTargets(text string) (ranges []events.Range, single bool, why string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
	// All of them or none: a name may hold blanks, commas and numbers.
	numbers := len(words) > 0
	for _, w := range words {
		numbers = numbers && isNumber(w)
	}
	if !numbers {
		ranges, why = c.findNamed(text)
		return ranges, len(ranges) == 1 && ranges[0].To == ranges[0].From+1, why
	}
	for _, w := range words {
		n, found := c.outline.nodeAt(w)
		if !found {
			return nil, false, c.noNumber(w)
		}
		r := c.outline.rangeOf(n)
		// A part that holds one step is not that step: what needs confirmation has to be named itself.
		single = len(words) == 1 && c.outline.nodes[n].step >= 0
		if r.From < r.To {
			ranges = append(ranges, r)
		}
	}
	if len(ranges) == 0 {
		return nil, false, "there is no step in " + text + "."
	}
	return ranges, single, ""
}

func (c *finder) noNumber(word string) string {
	if len(c.plan.Steps) == 0 {
		return "the plan has no steps."
	}
	return fmt.Sprintf("the plan has no %s. list lists its numbers.", word)
}

// findNamed finds steps by whatever names them in the plan.
func (c *finder) findNamed(text string) (ranges []events.Range, why string) {
	found := selector.Match(c.plan, text)
	// Only if nothing in the plan is called that.
	if len(found) == 0 && text == "all" && len(c.plan.Steps) > 0 {
		return []events.Range{c.position().Everything()}, ""
	}
	if len(found) == 0 {
		message, hint := selector.NoMatch(c.plan, text)
		if text == "" {
			return nil, "of what? give a number of the plan, such as 2.1, or a name."
		}
		// The hint is for a shell, and there is none here.
		if strings.Contains(hint, "moon plan --flat") {
			hint = "list and find say what there is"
		}
		return nil, sentence(clean(message) + "; " + clean(hint))
	}
	return events.RangesOf(found), ""
}

// oneNode finds the node that a command is about. Without a text it is the step the run is at.
func (c *finder) oneNode(text string) (n int, why string) {
	if text == "" {
		if i := c.position().At(); i >= 0 {
			return int(c.outline.nodeOf[i]), ""
		}
		return 0, "of what? give a number of the plan, such as 2.1, or a name."
	}
	if isNumber(text) {
		if n, found := c.outline.nodeAt(text); found {
			return n, ""
		}
		return 0, c.noNumber(text)
	}
	for n := 1; n < len(c.outline.nodes); n++ { // a scope by its name, as it was listed
		if c.outline.nodes[n].step < 0 && c.outline.titleOf(n) == text {
			return n, ""
		}
	}
	ranges, why := c.findNamed(text)
	if why != "" {
		return 0, why
	}
	if len(ranges) > 1 || ranges[0].To > ranges[0].From+1 {
		total := 0
		for _, r := range ranges {
			total += r.To - r.From
		}
		return 0, fmt.Sprintf("%s have that name. find lists them with their numbers.", count(total, "step"))
	}
	return int(c.outline.nodeOf[ranges[0].From]), ""
}

// oneStep is oneNode for what a single step is asked.
func (c *finder) oneStep(text string) (step int, why string) {
	n, why := c.oneNode(text)
	if why != "" {
		return -1, why
	}
	if step = int(c.outline.nodes[n].step); step < 0 {
		return -1, c.outline.numberOf(n) + " is a part of the plan, and not a step. show " + c.outline.numberOf(n) + " lists what is in it."
	}
	return step, ""
}
