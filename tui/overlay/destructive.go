package overlay

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/status"
)

// Approval is what an intent may approve.
type Approval struct {
	Ranges []events.Range
	Single bool // one step that a person looks at, which is confirmed as well
}

// SameAs reports whether two approve the same.
func (a Approval) SameAs(b Approval) bool {
	return a.Single == b.Single && slices.Equal(a.Ranges, b.Ranges)
}

// Weigh counts the steps that would be approved and are not yet, and lists those that destroy.
func (a Approval) Weigh(run *known.Run) (steps int, destructive []int) {
	for _, r := range a.Ranges {
		for i := r.From; i < r.To && i < len(run.Tree.Faces); i++ {
			// What has to be confirmed is not approved along with others, only on its own.
			if f := run.Tree.Faces[i]; f != status.Undecided && (f != status.Confirm || !a.Single) {
				continue
			}
			steps++
			if WhyDestroys(run, i) != "" {
				destructive = append(destructive, i)
			}
		}
	}
	return steps, destructive
}

// WhyDestroys says why a step is taken for one that destroys, or "". What a command does is not known here: an author lets one that
// destroys ask to be confirmed.
func WhyDestroys(run *known.Run, i int) string {
	p := &run.Plan.Steps[i]
	if p.Confirm != "" {
		return p.Confirm
	}
	// A prediction knows what is there to lose; arguments, which say only what is meant, are looked at last.
	if f := run.Predicted.Step(i); f != nil && f.Diff.Kind == events.ChangeDelete {
		return cmp.Or(f.Diff.Summary, "deletes "+f.Diff.Path)
	}
	if p.Action == "wait" {
		return "" // state: absent waits there for something to go
	}
	// What is not known yet counts as destructive: it is approved now, and nothing asks again once it is known.
	state, after := plan.Display(p.Args["state"])
	switch {
	case len(after) > 0:
		return "its state is known after " + run.Plan.After(after)
	case state == "absent", state == "removed", state == "uninstalled":
		return "state: " + state
	}
	for _, arg := range []string{"remove", "purge", "autoremove", "exclusive"} {
		if on, after := plan.Display(p.Args[arg]); on == "true" || len(after) > 0 {
			return arg
		}
	}
	return ""
}

// NameToType is what has to be typed to approve some steps, and what that is: the play they are in, or the playbook.
func NameToType(p *plan.Plan, ranges []events.Range) (name, kind string) {
	for i := range p.Scopes {
		s := &p.Scopes[i]
		if s.Kind != plan.ScopePlay || len(ranges) == 0 || ranges[0].From < s.First || ranges[len(ranges)-1].To > s.Last {
			continue
		}
		// A name of which nothing can be shown could not be typed either.
		if name := typableName(s.Name); name != "" {
			return name, "play"
		}
	}
	// There is always something to type, or nothing could ever be approved.
	return cmp.Or(typableName(p.Name), typableName(path.Base(p.RootFile)), "yes"), "playbook"
}

// typableName is a name as it is shown and compared: one blank between words.
func typableName(name string) string { return strings.Join(strings.Fields(draw.Plain(name)), " ") }

// destructiveLines are some steps with the reason for each, in at most n lines.
func destructiveLines(s Screen, list []int, w, n int) (lines [][]draw.Text) {
	for k, i := range list {
		// The last line is given up for a count only if something is left out.
		if k == n-1 && len(list) > n {
			return append(lines, []draw.Text{draw.Inked(themes.Dim, "and "+draw.Count(len(list)-k, "more step"))})
		}
		if k == n {
			break
		}
		name := draw.CutMiddle(draw.Plain(s.TitleOn(&s.Plan.Steps[i])), max(w/2, 8), s.Glyphs.Dots)
		lines = append(lines, []draw.Text{
			draw.Inked(themes.Warn, s.Glyphs.Signs[draw.SignConfirm]+" "),
			draw.Inked(themes.Text, name),
			draw.Inked(themes.Dim, draw.CutRight("  "+draw.Plain(WhyDestroys(s.Run, i)), max(w-2-draw.Cells(name), 0), s.Glyphs.Dots)),
		})
	}
	return lines
}
