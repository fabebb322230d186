package pane

import (
	"fmt"
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/hostnames"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"
)

// HostWords say what a step or scope has to do with hosts: where it runs, what decides about it there.
type HostWords struct{ *view.State }

// Connecting is what is said while hosts are asked again that did not answer.
const Connecting = "connecting again"

// MissedWords say which hosts did not answer, and what can be done.
func (m HostWords) MissedWords(missed []*plan.Unreached) string {
	var hosts []string
	for _, u := range missed {
		hosts = append(hosts, u.Host)
	}
	again, leaves := "connects again", "leaves it out"
	they := "not reached: " + draw.Plain(hostnames.List(hosts))
	if len(hosts) > 1 {
		leaves = "leaves a host out"
	}
	if m.Width < 64 {
		again, leaves = "again", "leave out"
	}
	if m.Tools.Reload == nil {
		return they
	}
	return fmt.Sprintf("%s   %s %s   %s %s", they, m.Keys.Label(keymap.RunRetry), again, m.Keys.Label(keymap.GateExcludeHost), leaves)
}

// missedField says of a step that its host did not answer, and what can be done.
func (m HostWords) missedField(d *draw.Doc, p *plan.Step) {
	u := m.FindUnreached(p.Host)
	if u == nil {
		return
	}
	d.Para(themes.Failed, 0, "Not reached when the plan was made:")
	d.Para(themes.Text, 2, u.Why)
	d.Blank()
	var ways []view.Choice
	if m.Tools.Reload != nil {
		ways = append(ways, view.Choice{Do: keymap.RunRetry, Words: "connect again, and plan with what it says", Brief: "connect again"})
	}
	ways = append(ways, view.Choice{
		Do: keymap.GateExcludeHost, Words: "exclude " + draw.Plain(u.Host) + " from this run",
		Brief: "exclude it",
	})
	// A missed host does not forbid the run: it may be up again when its steps come.
	m.DrawChoices(d, append(ways, view.Choice{Do: keymap.RunContinue, Words: "run: it is tried again when its turn comes", Brief: "run"}))
	d.Blank()
}

// givingUp is to go on after a failure that nothing rescues: the host leaves the run, and the others may.
func (m HostWords) givingUp(p *plan.Step, away bool) view.Choice {
	host := draw.Plain(p.Host)
	switch {
	case p.GoesOn && away:
		return view.Choice{
			Do: keymap.RunContinue, Words: "continue without it: " + host + " continues with the next task",
			Brief: "continue",
		}
	case p.AnyFatal:
		return view.Choice{Do: keymap.RunContinue, Words: "continue without it: the play ends on all hosts", Brief: "end the play"}
	case !m.Tree.Over:
		return view.Choice{Do: keymap.RunContinue, Words: "continue without it (what follows is not run)", Brief: "continue"}
	}
	return view.Choice{Do: keymap.RunContinue, Words: "continue without " + host + "; the other hosts continue", Brief: "without " + host}
}

// runsOn says which host a step runs on, and as whom it is reached.
func (m HostWords) runsOn(d *draw.Doc, p *plan.Step) {
	on := []draw.Text{draw.Inked(themes.Text, status.On(p))}
	if p.Conn != nil {
		if how := p.Conn.String(); how != p.Conn.Host {
			on = append(on, draw.Inked(themes.Dim, "  "+how))
		}
	}
	d.Field("runs on", on...)
	if p.Once {
		d.Value("run once", "on the first host that can")
	}
}

// hangsOn says what decides whether a step is there at all, and what it makes run: notifications, and includes.
func (m HostWords) hangsOn(d *draw.Doc, p *plan.Step) {
	if p.Handler && len(p.Notifiers) > 0 {
		d.Value("notified", "by "+m.StepNames(p.Notifiers)+", if that changes something"+andNamed(p.Named))
	}
	for _, f := range p.Flushes {
		d.Value("unless", m.StepName(f.Step)+" runs, and nothing notifies it after that")
	}
	for _, g := range p.Gates {
		if g.Ran {
			d.Value("if", m.StepName(g.Step)+" runs")
		} else {
			d.Value("unless", m.StepName(g.Step)+" runs")
		}
	}
	var names, possible []string
	// The plan notes notifications at the handler, which comes after its tasks. A handler has a step for each host, but one name.
	for i := p.Index + 1; i < len(m.Plan.Steps) && !p.Handler; i++ {
		h := &m.Plan.Steps[i]
		list := &names
		if h.NamedOnly(p.Index) {
			list = &possible
		}
		if h.Handler && slices.Contains(h.Notifiers, p.Index) && !slices.Contains(*list, h.Title()) {
			*list = append(*list, h.Title())
		}
	}
	d.Value("notifies", strings.Join(names, ", "))
	d.Value("may notify", strings.Join(possible, ", "))
}

// hostsLooked bounds the steps that are looked through for their hosts, for a frame.
const hostsLooked = 5000

// hostsField says which hosts a scope is about, and what makes its handlers run.
func (m HostWords) hostsField(d *draw.Doc, s *plan.Scope) {
	if s.Hosts == 0 || s.ID == 0 {
		return
	}
	var hosts []string
	if s.Play != nil {
		hosts = s.Play.Hosts
	} else if s.Last-s.First <= hostsLooked {
		seen := map[string]bool{}
		for i := s.First; i < s.Last; i++ {
			if h := m.Plan.Steps[i].Host; !seen[h] {
				seen[h], hosts = true, append(hosts, h)
			}
		}
	}
	if len(hosts) > 0 {
		d.Value("hosts", hostnames.List(hosts))
	}
	d.Value("strategy", s.Strategy)
	if s.Once {
		d.Value("run once", "on the first host that can")
	}
	if s.Kind != plan.ScopeTask || s.First >= len(m.Plan.Steps) {
		return
	}
	if names := m.notifierNames(s.First); len(names) > 0 {
		d.Value("notified", "by "+strings.Join(names, ", ")+", on the hosts where that changes something")
	}
}

// decidedField says which step decides in the run whether what is in a scope runs, and what that hangs on.
func (m HostWords) decidedField(d *draw.Doc, s *plan.Scope) {
	if !s.Dynamic || s.First >= s.Last || s.Last > len(m.Plan.Steps) {
		return
	}
	by := -1
	// An include within includes hangs on all of them; the latest of these steps is that of the innermost.
	for _, g := range m.Plan.Steps[s.First].Gates {
		if g.Ran {
			by = max(by, g.Step)
		}
	}
	if by < 0 {
		return
	}
	words := "by " + m.StepName(by)
	if s.Hosts > 1 {
		words = fmt.Sprintf("by %s%s%s, on each host by itself", m.Glyphs.Quote[0], draw.Plain(m.Tree.Title(int(m.Tree.StepNode[by]))),
			m.Glyphs.Quote[1])
	}
	d.Value("decided", words)
	StepPane(m).drawUnknown(d, &m.Plan.Steps[by], "when", !m.Tree.Faces[by].Pending())
}

// andNamed is what must hold besides where only the run knows which handlers are notified.
func andNamed(named []plan.Naming) string {
	if len(named) == 0 {
		return ""
	}
	return " and names this handler"
}

// notifierNames are the tasks that make a handler run, by their names.
func (m HostWords) notifierNames(step int) (names []string) {
	for _, by := range m.Plan.Steps[step].Notifiers {
		if name := m.Plan.Steps[by].Title(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// NotifiedText says in a row of w cells what makes a handler run.
func (m HostWords) NotifiedText(step, w int) string {
	const brief = "if notified"
	names := m.notifierNames(step)
	if len(names) == 0 {
		return brief
	}
	words := "by " + draw.Plain(names[0])
	if more := len(names) - 1; more > 0 {
		words += fmt.Sprintf(", +%d more", more)
	}
	if draw.Cells(words) > w/2 {
		return brief
	}
	return words
}

// IsHandler reports whether a step is a handler.
func (m HostWords) IsHandler(step int) bool {
	return step < len(m.Plan.Steps) && m.Plan.Steps[step].Handler
}
