package plain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/events/rundir"
	"moon/events/steplog"
	"moon/internal/diag"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/selector"
	"moon/tui/status"
)

// Show tells what is recorded of a run: the outcome, what failed and why, what took long, and who asked for what.
type Show struct {
	ID       string
	Playbook string // absolute, or as far as it is known
	Word     string // how it ended, or "running" …
	Started  time.Time
	By       string // who started it, where, with which moon
	Resumed  bool
	Dir      string                         // of the run
	PlanFor  func(digest string) *plan.Plan // nil: the plan is not known, and neither are places
	NoPlan   string                         // why not

	Process    string   // that runs it now; "" if it is not live
	Concurrent []string // runs in progress that get in its way

	run    events.Run
	plan   *plan.Plan
	hosts  bool // steps are called with their hosts
	people []decision
	found  map[string]string // at open places, by their paths: later plans give them other numbers

	warnings []string // of the run as a whole
}

// decision is something a person asked for, or was asked.
type decision struct {
	at     time.Time
	actor  string
	step   int // -1: none
	order  *events.Order
	paused *events.RunPaused
	reason string // why the order was refused
}

// Follow takes the run in.
func (s *Show) Follow(feed <-chan []events.Record) {
	for batch := range feed {
		for _, r := range batch {
			s.Take(r)
		}
	}
}

// Take takes one event in.
func (s *Show) Take(r events.Record) {
	s.run.Apply(r)
	switch e := r.Event.(type) {
	case events.PlanLoaded:
		if s.PlanFor != nil {
			s.plan = s.PlanFor(e.Digest)
		}
		s.hosts = s.plan != nil && status.OverHosts(s.plan)
	case events.StepCompleted:
		s.noteFound(r.Step, e)
	case events.CommandAccepted:
		// moon tells decisions again that an edited or resumed plan keeps; it was not asked for them.
		if _, stop := e.Command.(events.Stop); e.Actor != "moon" || stop {
			s.people = append(s.people, decision{at: r.Time, actor: e.Actor, step: -1, order: &e.Order})
		}
	case events.CommandRejected:
		s.people = append(s.people, decision{at: r.Time, actor: e.Actor, step: -1, order: &e.Order, reason: e.Reason})
	case events.RunPaused:
		s.people = append(s.people, decision{at: r.Time, actor: "moon", step: r.Step, paused: &e})
	case events.Warning:
		if r.Step < 0 && !slices.Contains(s.warnings, e.Message) {
			s.warnings = append(s.warnings, e.Message)
		}
	default:
	}
}

// Run is the state the run is in.
func (s *Show) Run() *events.Run { return &s.run }

// Plan is the last plan of the run, or nil.
func (s *Show) Plan() *plan.Plan { return s.plan }

// Match finds the steps that a selector names: in the plan where it is known, or among the ids and names in the records.
func (s *Show) Match(text string) (found []int) {
	if s.plan != nil {
		return selector.Match(s.plan, text)
	}
	// Without the plan only what the records name can be found.
	for i := range s.run.Steps {
		switch {
		case events.StepID(i) == text:
			return []int{i}
		case text != "" && s.run.Steps[i].Name == text:
			found = append(found, i)
		}
	}
	return found
}

func (s *Show) summarise() events.RunCompleted {
	e := s.run.Result
	if e.Outcome == "" {
		e = s.run.Summary()
		e.Spent(&s.run.Clock.Times)
	}
	return e
}

const (
	slowest   = 5                      // how many are listed
	slow      = 100 * time.Millisecond // what is shorter is not worth a line
	decisions = 30                     // how many are listed
	places    = 20                     // the same
)

// Write prints it for people.
func (s *Show) Write(w io.Writer) error {
	var b strings.Builder
	e := s.summarise()
	fmt.Fprintf(&b, "%s  %s  %s\n", s.ID, termtext.CleanName(ShortHome(s.Playbook)), s.Word)
	again := ""
	if s.Resumed {
		again = ", resumed since"
	}
	fmt.Fprintf(&b, "  started  %s by %s%s\n", s.Started.Local().Format("2006-01-02 15:04:05"), termtext.CleanName(s.By), again)
	if s.Process != "" {
		fmt.Fprintf(&b, "  process  %s\n", termtext.CleanName(strings.TrimPrefix(s.Process, "process ")))
	}
	for _, c := range s.Concurrent {
		fmt.Fprintf(&b, "  warning  %s\n", termtext.CleanName(c))
	}
	for _, w := range s.warnings {
		if !slices.Contains(s.Concurrent, w) {
			fmt.Fprintf(&b, "  warning  %s\n", termtext.CleanName(w))
		}
	}
	fmt.Fprintf(&b, "  took     %s%s\n", Duration(e.Duration), waitedText("   ", e.Waited))
	if s.plan == nil || s.run.Result.Outcome == "" {
		// Without a plan, or before the end, the number would be a guess.
		e.NotRun = 0 // not known, or not yet
	}
	fmt.Fprintf(&b, "  steps    %s\n", countsLine(e))
	if e.Error != "" {
		fmt.Fprintf(&b, "  failed   %s\n", termtext.CleanName(e.Error))
	}
	if s.run.Phase != events.Done && s.run.Phase != events.Running && s.Word == "running" {
		fmt.Fprintf(&b, "  paused   %s\n", s.pausedText(s.run.PausedAt, s.run.Pause))
	}
	fmt.Fprintf(&b, "  files    %s\n", termtext.CleanName(ShortHome(s.Dir)))
	if s.NoPlan != "" {
		fmt.Fprintf(&b, "  note     without places and what follows from the plan: %s\n", termtext.CleanName(s.NoPlan))
	}
	s.writeActive(&b)
	if err := s.writeFailures(&b); err != nil {
		return err
	}
	if len(s.hostRecap()) > 0 {
		b.WriteString("\nHosts\n")
		writeRecap(&b, s.hostRecap())
	}
	s.writePlaces(&b)
	s.writeSlowest(&b)
	if s.plan != nil {
		listOverrides(&b, s.plan, &s.run, " → ")
	}
	listMarked(&b, &s.run, s.Line)
	s.writeDecisions(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// hostRecap is how the tasks of each host ended: as the run has reported it, or for one that has not come to its end, as far as it got.
func (s *Show) hostRecap() []events.HostCounts {
	if s.run.Result.Outcome != "" || !s.hosts {
		return s.run.Result.Hosts
	}
	return status.Recap(s.plan, s.run.Steps)
}

func (s *Show) writeActive(b *strings.Builder) {
	title := "Running"
	if s.Word != "running" {
		// A step that was active at the last record has no end.
		title = "Running when moon crashed"
	}
	for i := range s.run.Steps {
		if s.run.Steps[i].State == events.Active {
			if title != "" {
				fmt.Fprintf(b, "\n%s\n", title)
				title = ""
			}
			fmt.Fprintf(b, "  %s\n", s.Line(i))
		}
	}
}

// Line is one line about a step: id, name, place.
func (s *Show) Line(i int) string { return s.stepLine(i, diag.Origin.String) }

func (s *Show) stepLine(i int, place func(diag.Origin) string) string {
	line := events.StepID(i)
	if s.hosts {
		line += "  " + termtext.CleanName(status.On(&s.plan.Steps[i]))
	}
	if name := s.stepName(i); name != "" {
		line += "  " + termtext.CleanName(name)
	}
	if s.plan != nil {
		line += "  (" + termtext.CleanName(place(s.plan.Steps[i].Origin)) + ")"
	}
	return line
}

// stepName is what a step is called where it stands alone.
func (s *Show) stepName(i int) string {
	name := s.run.Steps[i].Name
	if s.plan == nil {
		return name
	}
	return s.plan.NameWithItems(i, cmp.Or(name, s.plan.Steps[i].Title()))
}

func (s *Show) stepLabel(i int) string {
	name := s.run.Steps[i].Name
	if s.plan == nil {
		return name
	}
	return s.plan.Steps[i].Label(cmp.Or(name, s.plan.Steps[i].Title()))
}

// hasFailed reports whether a step failed, and nothing made it good.
func hasFailed(s *events.Step) bool {
	return s.State == events.Settled && (events.OnFailure.Has(s.Outcome) || s.Outcome == events.Unreachable) && !s.Ignored && !s.Rescued
}

func (s *Show) writeFailures(b *strings.Builder) error {
	title := "\nFailed\n"
	for i := range s.run.Steps {
		step := &s.run.Steps[i]
		if !hasFailed(step) {
			continue
		}
		b.WriteString(title)
		title = ""
		head, rest, _ := strings.Cut(step.Error, "\n")
		if step.Outcome == events.Lost {
			head = "lost: " + events.StepLost{Error: head}.Why()
		}
		// The error has its last lines with it, unless it is of one line.
		if rest == "" && len(step.Out) > 0 {
			var err error
			if rest, err = steplog.Tail(rundir.Output(s.Dir), step.Out[len(step.Out)-1]); err != nil {
				return err
			}
		}
		fmt.Fprintf(b, "  %s\n    %s\n", s.stepLine(i, diag.Origin.Full), termtext.CleanName(head))
		if rest == "" {
			continue
		}
		lines := strings.Split(rest, "\n")
		for _, line := range lines[max(len(lines)-tailLines, 0):] {
			fmt.Fprintf(b, "      %s\n", termtext.CleanName(line))
		}
		fmt.Fprintf(b, "    all of it: moon show %s --output %s\n", s.ID, events.StepID(i))
	}
	return nil
}

func (s *Show) writeSlowest(b *strings.Builder) {
	var steps []int
	for i := range s.run.Steps {
		if s.timeTaken(i) >= slow {
			steps = append(steps, i)
		}
	}
	if len(steps) == 0 {
		return
	}
	// Stable, so that steps of the same time keep their order.
	slices.SortStableFunc(steps, func(i, j int) int { return cmp.Compare(s.timeTaken(j), s.timeTaken(i)) })
	b.WriteString("\nSlowest\n")
	for _, i := range steps[:min(slowest, len(steps))] {
		fmt.Fprintf(b, "  %6s  %s\n", Duration(s.timeTaken(i)), s.Line(i))
	}
}

func (s *Show) timeTaken(i int) time.Duration {
	return tookOf(&s.run.Steps[i])
}

func (s *Show) writeDecisions(b *strings.Builder) {
	if len(s.people) == 0 {
		return
	}
	b.WriteString("\nCommands and pauses\n")
	list := s.people
	if n := len(list) - decisions; n > 0 {
		fmt.Fprintf(b, "  (%d earlier ones; --events shows all)\n", n)
		list = list[n:]
	}
	for _, d := range list {
		text := ""
		if d.paused != nil {
			text = "paused: " + s.pausedText(d.step, *d.paused)
		} else {
			text = commandText(d.order.Command)
		}
		if d.reason != "" {
			text += "   refused: " + termtext.CleanName(d.reason)
		}
		fmt.Fprintf(b, "  %s  %s  %s\n", d.at.Local().Format("15:04:05"), termtext.CleanName(cmp.Or(d.actor, "?")), text)
	}
}

func (s *Show) pausedText(step int, p events.RunPaused) string {
	text := string(p.Reason)
	if step >= 0 {
		text += " at " + events.StepID(step)
	}
	if p.Message != "" {
		text += ": " + termtext.CleanName(p.Message)
	}
	return text
}

// commandText says what a command asks for.
func commandText(c events.Command) string {
	verb := events.Verb(c)
	switch c := c.(type) {
	case events.Approve:
		return verb + " " + rangeText(c.Range)
	case events.Withdraw:
		return verb + " " + rangeText(c.Range)
	case events.Exclude:
		return verb + " " + rangeText(c.Range)
	case events.Include:
		return verb + " " + rangeText(c.Range)
	case events.Retry:
		return verb + " " + rangeText(c.Range)
	case events.Accept:
		return verb + " " + rangeText(c.Range)
	case events.Break:
		if c.Clear {
			verb = "clear break"
		}
		return verb + " " + rangeText(c.Range()) + c.Clauses()
	case events.Mark:
		return verb + " " + rangeText(c.Range)
	case events.Rerun:
		verb += " " + rangeText(c.Range)
		if c.With {
			verb += " and what depends on it"
		}
		return verb
	case events.Keep:
		return verb + " " + rangeText(c.Range)
	case events.Set:
		return verb + " " + c.Variable
	case events.Fix:
		return verb + " " + c.Words()
	case events.Advance:
		// step takes whatever comes next, and has no range.
		if c.Verb == "step" {
			return c.Verb
		}
		return c.Verb + " " + rangeText(c.Range)
	case events.Skip:
		return verb + " " + events.StepID(c.Step)
	case events.Answer:
		if c.Reject {
			verb = "reject"
		}
		return verb + " " + events.StepID(c.Step)
	case events.Stop:
		return verb + " " + string(c.How)
	case events.Continue, events.Pause, events.Leave:
	}
	return verb
}

func rangeText(r events.Range) string {
	if r.To-r.From == 1 {
		return events.StepID(r.From)
	}
	return events.StepID(r.From) + " to " + events.StepID(r.To-1)
}

// Account is what is recorded of a run, for programs.
type Account struct {
	Skipped   int                 `json:"skipped"`
	Ignored   int                 `json:"ignored"`
	Rescued   int                 `json:"rescued"`
	Cancelled int                 `json:"cancelled"`
	NotRun    *int                `json:"not_run"`         // null where the plan is not known
	Classes   *Classes            `json:"classes"`         // as not_run
	Groups    []groupJSON         `json:"groups"`          // blocks, includes, presets, loops, plays and roles with steps; as not_run
	Error     string              `json:"error,omitempty"` // why it failed although no step did
	Exports   map[string]any      `json:"exports,omitempty"`
	Planned   bool                `json:"planned"`         // the plan is known: without it there are no paths and origins
	Steps     []stepJSON          `json:"steps"`           // those of which anything is known
	Hosts     []events.HostCounts `json:"hosts,omitempty"` // of a playbook of plays
	Commands  []commandJSON       `json:"commands"`
}

type stepJSON struct {
	events.Where
	Name       string     `json:"name"`
	Outcome    string     `json:"outcome"` // "running" where it has none
	Attempts   int        `json:"attempts"`
	Started    *time.Time `json:"started,omitempty"`
	DurationMS int64      `json:"duration_ms"`
	RC         *int       `json:"rc,omitempty"`
	Error      string     `json:"error,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	Ignored    bool       `json:"ignored,omitempty"`
	Rescued    bool       `json:"rescued,omitempty"`
	Marked     bool       `json:"marked,omitempty"` // as done, by hand: it was not run
	Output     []string   `json:"output,omitempty"` // per attempt, the files without .out and .err
}

type commandJSON struct {
	Time     time.Time       `json:"time"`
	Order    json.RawMessage `json:"order"`
	Accepted bool            `json:"accepted"`
	Reason   string          `json:"reason,omitempty"`
}

// Account gives it for programs.
func (s *Show) Account() (Account, error) {
	e := s.summarise()
	a := Account{
		Skipped: e.Skipped, Ignored: e.Ignored, Rescued: e.Rescued, Cancelled: e.Cancelled, Planned: s.plan != nil,
		Error: e.Error, Exports: e.Exports,
		Steps: []stepJSON{}, Commands: []commandJSON{}, Hosts: s.hostRecap(),
	}
	if s.plan != nil {
		all := classesOf(s.run.Steps)
		a.NotRun, a.Classes, a.Groups = &e.NotRun, &all, groupsOf(s.plan, s.run.Steps)
	}
	for i := range s.run.Steps {
		step := &s.run.Steps[i]
		// Never reached; a.NotRun counts it.
		if step.State == events.Waiting && step.Attempt == 0 {
			continue
		}
		j := stepJSON{
			Where: whereOf(s.plan, i), Name: s.stepLabel(i), Outcome: step.Outcome.String(), Attempts: step.Attempt,
			DurationMS: s.timeTaken(i).Milliseconds(),
			Error:      step.Error, Reason: step.Reason, Ignored: step.Ignored, Rescued: step.Rescued,
			Marked: step.Marked,
		}
		j.Step = events.StepID(i)
		if step.State == events.Active {
			j.Outcome = "running"
		}
		if step.Attempt > 0 {
			at := step.Started.UTC()
			j.Started = &at
		}
		if step.HasRC {
			j.RC = &step.RC
		}
		for _, prefix := range step.Out {
			j.Output = append(j.Output, filepath.Join("out", prefix))
		}
		a.Steps = append(a.Steps, j)
	}
	for _, d := range s.people {
		if d.order == nil {
			continue
		}
		text, err := json.Marshal(*d.order)
		if err != nil {
			return a, err
		}
		a.Commands = append(a.Commands, commandJSON{d.at.UTC(), text, d.reason == "", d.reason})
	}
	return a, nil
}
