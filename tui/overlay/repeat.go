package overlay

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan/sequence"
	"moon/themes"
	"moon/tui/draw"
)

// Repeat offers another run of some steps when the run is over. That run has its own review: what the steps need is in it, too.
type Repeat struct {
	what  string
	steps []int // without those that the plan excludes
	after []int // what depends on them
}

// NewRepeat is about the steps of some ranges, which are one node if single says so.
func NewRepeat(s Screen, title string, ranges []events.Range, single bool) *Repeat {
	b := &Repeat{what: draw.Plain(title)}
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if !s.Plan.Steps[i].Excluded {
				b.steps = append(b.steps, i)
			}
		}
	}
	if !single {
		b.what = draw.Count(len(b.steps), "step")
	}
	b.after = slices.DeleteFunc(sequence.Dependents(s.Plan, b.steps), func(i int) bool { return s.Plan.Steps[i].Excluded })
	return b
}

// Press takes the decision.
func (b *Repeat) Press(s Screen, msg tea.KeyPressMsg) []Want {
	wants := []Want{Close{}}
	switch key := msg.String(); {
	case key == "r" && len(b.steps) > 0:
		wants = append(wants, ClearMarks{}, RunSteps{pathsOf(s, b.steps)})
	case key == "w" && len(b.after) > 0:
		wants = append(wants, ClearMarks{}, RunSteps{pathsOf(s, slices.Concat(b.steps, b.after))})
	}
	return wants
}

func pathsOf(s Screen, steps []int) (paths []string) {
	for _, i := range steps {
		paths = append(paths, s.Plan.Steps[i].Path)
	}
	return paths
}

// Draw says what there is to decide, and how.
func (b *Repeat) Draw(s Screen, w, _ int) (title string, body [][]draw.Text, foot string) {
	para := func(text string) {
		for _, part := range draw.WrapText(text, max(w, 8)) {
			body = append(body, []draw.Text{draw.Inked(themes.Text, part)})
		}
	}
	para(b.what)
	if names := namesOf(s, b.after, dependentsShown); names != "" {
		para("Depending on it: " + names)
	}
	para("This opens another run, which begins with a review.")
	body = append(body, nil)
	if n := len(b.steps); n > 0 {
		body = append(body, draw.Hint("r", "run "+map[bool]string{true: "this step", false: draw.Count(n, "step")}[n == 1]+" with what it needs"))
	}
	if n := len(b.after); n > 0 {
		body = append(body, draw.Hint("w", fmt.Sprintf("also the %s depending on it", draw.Count(n, "step"))))
	}
	return "Run again?", append(body, draw.Hint("esc", "back")), ""
}
