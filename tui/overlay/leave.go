package overlay

import (
	"fmt"
	"time"

	"moon/tui/status"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
)

// Leave asks what shall become of a run that a person wants to leave. The keys are others than the one that asked,
// and enter is none of them.
type Leave struct {
	Attached bool // another process has the run, which continues without this screen
}

// Press takes the answer.
func (l Leave) Press(_ Screen, msg tea.KeyPressMsg) []Want {
	switch msg.String() {
	case "d":
		if l.Attached {
			return []Want{Close{}, Detach{}}
		}
	case "w":
		return []Want{Stop{events.StopDrain}, Say{"stopping after the running steps"}, Close{}, Quit{}}
	case "k":
		return []Want{Stop{events.StopInterrupt}, Say{"stopping"}, Close{}, Quit{}}
	case "esc", "q":
		return []Want{Close{}, Quit{}}
	}
	return nil
}

// Draw asks, and names what runs.
func (l Leave) Draw(s Screen, w, h int) (title string, body [][]draw.Text, foot string) {
	left := s.Tree.Tallies[0].Sum(status.Waiting, status.Undecided, status.Confirm)
	running := listRunning(s, runningNamed)
	n := s.Shot.Counts.Running
	if n == 0 {
		body = append(body, []draw.Text{draw.Inked(themes.Text, "Nothing is running. "+notRunYet(left))})
		if h > 3 {
			body = append(body, nil)
		}
		return "Quit?", append(body, l.answers(draw.Hint("k", "stop"))...), ""
	}
	for _, r := range running {
		since := draw.Took(r.took)
		name := draw.CutMiddle(draw.Plain(s.TitleOn(r.plan)), max(w-len(since)-2, 4), s.Glyphs.Dots)
		body = append(body, []draw.Text{draw.Inked(themes.Text, name+"  "), draw.Inked(themes.Dim, since)})
	}
	answers := l.answers(draw.Hint("w", "let running steps finish, then stop"), draw.Hint("k", "stop now: interrupt, then kill"))
	// On a tiny screen the answers count more than what they are about.
	switch {
	case h <= len(answers):
		body = nil
	case len(body)+len(answers) < h:
		body = append(body, nil)
	default:
		body = body[:min(len(body), h-len(answers))]
	}
	return fmt.Sprintf("Quit with %s running?", draw.Count(n, "step")), append(body, answers...), ""
}

// answers are those that stop the run, between those that do not.
func (l Leave) answers(stop ...[]draw.Text) (list [][]draw.Text) {
	if l.Attached {
		list = append(list, draw.Hint("d", "detach: the run continues"))
	}
	return append(append(list, stop...), draw.Hint("esc", "cancel"))
}

func notRunYet(n int) string {
	if n == 1 {
		return "1 step has not run."
	}
	return fmt.Sprintf("%d steps have not run.", n)
}

// nowRunning is a step that runs.
type nowRunning struct {
	plan *plan.Step
	took time.Duration
}

// runningNamed is how many running steps are named.
const runningNamed = 12

// listRunning lists what runs, at most n steps of it.
func listRunning(s Screen, n int) (list []nowRunning) {
	s.Store.Read(func(run *events.Run) {
		// The faces are of the last look; what the store has may be newer, and even of another plan.
		for i, f := range s.Tree.Faces {
			if f == status.Running && i < len(run.Steps) && len(list) < n {
				list = append(list, nowRunning{&s.Plan.Steps[i], s.StepDuration(&run.Steps[i])})
			}
		}
	})
	return list
}
