package overlay

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan/sequence"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/known"
	"moon/tui/status"
)

// Done decides about what is done, and what shall count as done: run it again, keep it, mark it. It says what depends on
// it, because that keeps what it was made from. Nothing else runs a step again that succeeded.
type Done struct {
	what       string
	plan       string // the digest of the plan that has these steps
	ranges     []events.Range
	again      []int // done, and can run again
	outdated   int
	dependents []int // done, and depending on those that would run again or be marked
	lacking    []int // to run yet, with a result that a step which is marked does not give
	markable   int
}

// NewDone is about the steps of some ranges, which are one node if single says so.
func NewDone(s Screen, title string, ranges []events.Range, single bool) *Done {
	b := &Done{plan: s.Plan.Digest, ranges: ranges, what: draw.Plain(title)}
	var about []int
	n, unrun := 0, []int(nil)
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			n++
			switch {
			case s.CanRunAgain(i):
				b.again = append(b.again, i)
			case s.Position().MayMark(i):
				b.markable++
				if s.Tree.Faces[i].Pending() { // what has failed keeps the result of its last attempt
					unrun = append(unrun, i)
				}
			default:
				continue
			}
			if s.Tree.Faces[i] == status.Outdated {
				b.outdated++
			}
			about = append(about, i)
		}
	}
	if !single {
		b.what = draw.Count(n, "step")
	}
	// What has not run yet gets the new results anyway; only what is done would keep the old ones.
	b.dependents = slices.DeleteFunc(sequence.Dependents(s.Plan, about), func(i int) bool { return !s.CanRunAgain(i) })
	b.lacking = known.LackingWithout(s.Run, unrun)
	return b
}

// Press takes the decision.
func (b *Done) Press(s Screen, msg tea.KeyPressMsg) []Want {
	wants := []Want{Close{}}
	key := msg.String()
	switch {
	case b.plan != s.Plan.Digest: // what was counted when it was opened is not what there is
		return append(wants, Say{"the plan has changed; look again"})
	case key == "r" && b.canRun(s):
		wants = append(wants, Send{Command: b.rerunCommand(false)})
	case key == "w" && b.canRun(s) && len(b.dependents) > 0:
		wants = append(wants, Send{Command: b.rerunCommand(true)})
	case key == "k" && b.outdated > 0:
		for _, r := range b.ranges {
			if s.Position().Tally(r)[status.Outdated] > 0 {
				wants = append(wants, Send{Command: events.Keep{Range: r}})
			}
		}
	case key == "m" && b.markable > 0:
		for _, r := range b.ranges {
			if anyMarkable(s, r) {
				wants = append(wants, Send{Command: events.Mark{Range: r}})
			}
		}
	default:
		// The marks stay, as nothing was decided.
		return wants
	}
	return append(wants, ClearMarks{})
}

func (b *Done) canRun(s Screen) bool { return len(b.again) > 0 && s.MayRunAgain() }

// rerunCommand is one command for all of them: they run one after the other.
func (b *Done) rerunCommand(with bool) events.Command {
	// The range is from the first to the last of them, and may have others in between: Steps says which are meant.
	return events.Rerun{Range: events.Range{From: b.again[0], To: b.again[len(b.again)-1] + 1}, Steps: b.again, With: with}
}

func anyMarkable(s Screen, r events.Range) bool {
	for i := r.From; i < r.To; i++ {
		if s.Position().MayMark(i) {
			return true
		}
	}
	return false
}

// dependentsShown is how many of the steps that depend on it are named.
const dependentsShown = 3

// Draw says what there is to decide, and how.
func (b *Done) Draw(s Screen, w, _ int) (title string, body [][]draw.Text, foot string) {
	para := func(text string) {
		for _, part := range draw.WrapText(text, max(w, 8)) {
			body = append(body, []draw.Text{draw.Inked(themes.Text, part)})
		}
	}
	para(b.what)
	if b.outdated > 0 {
		body = append(body, []draw.Text{draw.Inked(themes.Warn, doneText(b.outdated, len(b.again))+"; the definition has changed since")})
	}
	if names := namesOf(s, b.dependents, dependentsShown); names != "" {
		para("Done, and depending on it: " + names)
	}
	body = append(body, nil)
	title = "Mark as done?"
	if len(b.again) > 0 {
		title = "Run again?"
		if b.canRun(s) {
			body = append(body, draw.Hint("r", "run "+onlyText(len(b.again))+" again"))
			if n := len(b.dependents); n > 0 {
				body = append(body, draw.Hint("w", fmt.Sprintf("run again with the %s depending on it", draw.Count(n, "done step"))))
			}
		} else {
			body = append(body, []draw.Text{draw.Inked(themes.Dim, s.Keys.Label(keymap.RunPause)+" pauses the run; then it can run again")})
		}
	}
	if b.outdated > 0 {
		body = append(body, draw.Hint("k", "keep as it is, and do not ask again"))
	}
	if b.markable > 0 {
		words := "mark as done: it counts as ok and is not run"
		if b.markable > 1 {
			words = fmt.Sprintf("mark %s as done: they count as ok and are not run", draw.Count(b.markable, "step"))
		}
		body = append(body, draw.Hint("m", words))
		// A value that is not there is found out only when a step asks for it, which is late.
		if names := namesOf(s, b.lacking, dependentsShown); names != "" {
			for _, part := range draw.WrapText("It will have no result. Using it, and failing then: "+names, max(w-3, 8)) {
				body = append(body, []draw.Text{draw.Inked(themes.Warn, "   "+part)})
			}
		}
	}
	return title, append(body, draw.Hint("esc", "back")), ""
}

// onlyText is what runs again without what depends on it.
func onlyText(n int) string {
	if n == 1 {
		return "this step"
	}
	return draw.Count(n, "done step")
}

func doneText(n, of int) string {
	if of == 1 {
		return "Done with an earlier definition"
	}
	return fmt.Sprintf("%d of %d done with an earlier definition", n, of)
}

// namesOf are the names of some steps, at most so many.
func namesOf(s Screen, steps []int, most int) string {
	var names []string
	for _, i := range steps[:min(len(steps), most)] {
		names = append(names, draw.Plain(s.TitleOn(&s.Plan.Steps[i])))
	}
	if more := len(steps) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
