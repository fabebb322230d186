package lines

import (
	"fmt"
	"strings"
	"unicode"

	"moon/events"
	"moon/tui/standing"
)

// targets finds what a command is about: numbers of the plan, all, or whatever else names steps (an id, a path, a name,
// file:line). single says that it is exactly one step, by its own name. why says what is wrong.
func (d *desk) targets(text string) (ranges []events.Range, single bool, why string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
	numbers := len(words) > 0
	for _, w := range words {
		numbers = numbers && isNumber(w)
	}
	if !numbers {
		ranges, why = d.named(text)
		return ranges, len(ranges) == 1 && ranges[0].To == ranges[0].From+1, why
	}
	for _, w := range words {
		n, found := d.outline.at(w)
		if !found {
			return nil, false, d.noNumber(w)
		}
		r := d.outline.steps(n)
		single = len(words) == 1 && d.outline.nodes[n].step >= 0
		if r.From < r.To {
			ranges = append(ranges, r)
		}
	}
	if len(ranges) == 0 {
		return nil, false, "there is no step in " + text + "."
	}
	return ranges, single, ""
}

func (d *desk) noNumber(word string) string {
	if len(d.plan.Steps) == 0 {
		return "the plan has no steps."
	}
	return fmt.Sprintf("the plan has no %s. list lists its numbers.", word)
}

// named finds steps by whatever names them in the plan.
func (d *desk) named(text string) (ranges []events.Range, why string) {
	found := d.plan.Match(text)
	if len(found) == 0 && text == "all" && len(d.plan.Steps) > 0 {
		return []events.Range{d.everything()}, ""
	}
	if len(found) == 0 {
		message, hint := d.plan.NoMatch(text)
		if text == "" {
			return nil, "of what? give a number of the plan, such as 2.1, or a name."
		}
		if strings.Contains(hint, "moon plan --flat") {
			hint = "list and find say what there is"
		}
		return nil, sentence(clean(message) + "; " + clean(hint))
	}
	return events.RangesOf(found), ""
}

func (d *desk) everything() events.Range { return events.Range{From: 0, To: len(d.plan.Steps)} }

// oneNode finds the node that a command is about. Without a text it is the step the run is at.
func (d *desk) oneNode(text string) (n int, why string) {
	if text == "" {
		if i := d.here(); i >= 0 {
			return int(d.outline.stepAt[i]), ""
		}
		return 0, "of what? give a number of the plan, such as 2.1, or a name."
	}
	if isNumber(text) {
		if n, found := d.outline.at(text); found {
			return n, ""
		}
		return 0, d.noNumber(text)
	}
	for n := 1; n < len(d.outline.nodes); n++ { // a scope by its name, as it was listed
		if d.outline.nodes[n].step < 0 && d.outline.title(n) == text {
			return n, ""
		}
	}
	ranges, why := d.named(text)
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
	return int(d.outline.stepAt[ranges[0].From]), ""
}

// oneStep is oneNode for what a single step is asked.
func (d *desk) oneStep(text string) (step int, why string) {
	n, why := d.oneNode(text)
	if why != "" {
		return -1, why
	}
	if step = int(d.outline.nodes[n].step); step < 0 {
		return -1, d.outline.number(n) + " is a part of the plan, and not a step. show " + d.outline.number(n) + " lists what is in it."
	}
	return step, ""
}

// here is the step the run is at, or -1: paused at, running, or the last that ran.
func (d *desk) here() int {
	if i := d.gate(); i >= 0 {
		return i
	}
	if i := d.run.PausedAt; i >= 0 && i < len(d.plan.Steps) && d.run.Phase == events.Paused {
		return i
	}
	if d.run.Phase == events.Ended || d.run.Phase == events.Done {
		for i := range d.plan.Steps {
			if d.state(i).Bad() {
				return i
			}
		}
	}
	if i := d.run.Pointer; i >= 0 && i < len(d.plan.Steps) {
		return i
	}
	return -1
}

// state is what a step is like.
func (d *desk) state(i int) state {
	var none events.Step
	return standing.Of(d.stepOr(i, &none), &d.plan.Steps[i])
}

// stepOr is what is known of a step; the feed may be behind the plan.
func (d *desk) stepOr(i int, none *events.Step) *events.Step {
	if i < len(d.run.Steps) {
		return &d.run.Steps[i]
	}
	none.Cause = -1
	return none
}

// of is stepOr for those who only look.
func (d *desk) of(i int) *events.Step { return d.stepOr(i, &events.Step{}) }

func (d *desk) tally(ranges ...events.Range) (t tally) {
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			t[d.state(i)]++
		}
	}
	return t
}

// called is a step as a sentence has it: step 2.1 stop the app.
func (d *desk) called(i int) string {
	return "step " + d.outline.stepNumber(i) + " " + d.stepTitle(i) + d.on(i)
}

// stepTitle is how a step is called, as far as it is known by now.
func (d *desk) stepTitle(i int) string {
	p, title := &d.plan.Steps[i], d.outline.title(int(d.outline.stepAt[i]))
	if ran := d.of(i).Name; ran != "" {
		return clean(p.Label(ran))
	}
	if strings.Contains(title, "{{") {
		if now, _ := d.stepNow(i); !strings.Contains(now.Title(), "{{") {
			return clean(p.Label(now.Title()))
		}
	}
	return title
}
