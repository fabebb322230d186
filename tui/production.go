package tui

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
)

// approving is approval on a target that is marked as production: what is guarded, and what a name is to be typed for.
type approving struct{ *view.State }

// bannerTexts puts the mark into a header: reverse in every theme, capitals in every terminal.
func (m approving) bannerTexts(room int) []draw.Text {
	words := strings.ToUpper(strings.TrimSpace(draw.Plain(m.Tools.Banner)))
	if words == "" || room < 3 {
		return nil
	}
	return []draw.Text{draw.Inked(draw.InkBanner, " "+draw.CutRight(words, room-2, m.Glyphs.Dots)+" ")}
}

// asksName opens the box that asks for a name, where an intent would approve what must not be approved by one key. With that name
// it does the intent.
func (m *model) asksName(do keymap.Intent) bool {
	if !m.IsProduction() {
		return false
	}
	what := approving{m.State}.wouldApprove(do)
	steps, destructive := approving{m.State}.weighApproval(what)
	if steps == 0 || len(destructive) == 0 && do != keymap.GateApproveAll {
		return false
	}
	m.Overlay = newProductionBox(m.State, do, what)
	return true
}

// approval is what an intent may approve.
type approval struct {
	ranges []events.Range
	single bool // one step that a person looks at, which is confirmed as well
}

func (a approval) sameAs(b approval) bool {
	return a.single == b.single && slices.Equal(a.ranges, b.ranges)
}

func (m approving) wouldApprove(do keymap.Intent) (what approval) {
	switch do {
	case keymap.GateApprove:
		what.ranges, what.single = m.DecisionTargets()
	case keymap.GateApproveAll:
		what.ranges = []events.Range{m.Position().Everything()}
	case keymap.RunStep, keymap.RunOver:
		if r, ok := deciding(m).aheadRange(do == keymap.RunOver); ok && m.Shot.Phase != events.Running && m.Shot.Phase != events.Ended {
			what.ranges = []events.Range{r}
		}
	default:
	}
	return what
}

// weighApproval counts the steps that would be approved and are not yet, and lists those that destroy.
func (m approving) weighApproval(what approval) (steps int, destructive []int) {
	for _, r := range what.ranges {
		for i := r.From; i < r.To && i < len(m.Tree.Faces); i++ {
			if f := m.Tree.Faces[i]; f != status.Undecided && (f != status.Confirm || !what.single) {
				continue
			}
			steps++
			if m.whyDestroys(i) != "" {
				destructive = append(destructive, i)
			}
		}
	}
	return steps, destructive
}

// whyDestroys says why a step is taken for one that destroys, or "". What a command does nobody knows: whoever writes one that
// destroys lets it ask to be confirmed.
func (m approving) whyDestroys(i int) string {
	p := &m.Plan.Steps[i]
	if p.Confirm != "" {
		return p.Confirm
	}
	if f := m.Predicted.Step(i); f != nil && f.Diff.Kind == events.ChangeDelete {
		return cmp.Or(f.Diff.Summary, "deletes "+f.Diff.Path)
	}
	if p.Action == "wait" {
		return "" // state: absent waits there for something to go
	}
	state, after := plan.Display(p.Args["state"])
	switch {
	case len(after) > 0:
		return "its state is known after " + m.Plan.After(after)
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

// nameToType is what has to be typed to approve some steps, and what that is: the play they are in, or the playbook.
func (m approving) nameToType(ranges []events.Range) (name, kind string) {
	for i := range m.Plan.Scopes {
		s := &m.Plan.Scopes[i]
		if s.Kind != plan.ScopePlay || len(ranges) == 0 || ranges[0].From < s.First || ranges[len(ranges)-1].To > s.Last {
			continue
		}
		if name := typableName(s.Name); name != "" {
			return name, "play"
		}
	}
	return cmp.Or(typableName(m.Plan.Name), typableName(path.Base(m.Plan.RootFile)), "yes"), "playbook"
}

// typableName is a name as it is shown and compared: one blank between words.
func typableName(name string) string { return strings.Join(strings.Fields(draw.Plain(name)), " ") }

// destructiveLines are some steps with the reason for each, in at most n lines.
func (m approving) destructiveLines(list []int, w, n int) (lines [][]draw.Text) {
	for k, i := range list {
		if k == n-1 && len(list) > n {
			return append(lines, []draw.Text{draw.Inked(themes.Dim, "and "+draw.Count(len(list)-k, "more step"))})
		}
		if k == n {
			break
		}
		name := draw.CutMiddle(draw.Plain(m.TitleOn(&m.Plan.Steps[i])), max(w/2, 8), m.Glyphs.Dots)
		lines = append(lines, []draw.Text{
			draw.Inked(themes.Warn, m.Glyphs.Signs[draw.SignConfirm]+" "),
			draw.Inked(themes.Text, name),
			draw.Inked(themes.Dim, draw.CutRight("  "+draw.Plain(m.whyDestroys(i)), max(w-2-draw.Cells(name), 0), m.Glyphs.Dots)),
		})
	}
	return lines
}
