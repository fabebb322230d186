package reading

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/internal/termtext"
	"moon/plan"
	"moon/tui/status"
)

// Reading is a run that was taken in.
type Reading struct {
	PlanFor func(digest string) *plan.Plan // nil: the plan is not known, and neither are places
	Out     string                         // required: directory of the output files
	Head    []Fact                         // what is known of the run but from its events: who has started it, and where

	Run      events.Run
	Plan     *plan.Plan // the last one, or nil
	Warnings []string   // of the run as a whole
	Moon     string     // the version that runs it

	hosts bool // steps are called with their hosts
}

// Fact is a name and a text.
type Fact struct{ Name, Text string }

// Follow takes a run in, to its end.
func (r *Reading) Follow(feed <-chan []events.Record) {
	for batch := range feed {
		for _, rec := range batch {
			r.Take(rec)
		}
	}
}

// Take takes one event in.
func (r *Reading) Take(rec events.Record) {
	r.Run.Apply(rec)
	switch e := rec.Event.(type) { //nolint:gochecksumtype // the run has the rest
	case events.RunStarted:
		r.Moon = e.Moon
	case events.PlanLoaded:
		if r.PlanFor != nil {
			r.Plan = r.PlanFor(e.Digest)
		}
		r.hosts = r.Plan != nil && status.OverHosts(r.Plan)
	case events.Warning:
		if text := termtext.CleanName(e.Message); !slices.Contains(r.Warnings, text) {
			r.Warnings = append(r.Warnings, text)
		}
	}
}

// Steps is how many steps can be shown.
func (r *Reading) Steps() int {
	if r.Plan == nil {
		return len(r.Run.Steps)
	}
	return min(len(r.Run.Steps), len(r.Plan.Steps))
}

// State is the state of a step.
func (r *Reading) State(i int) status.State {
	p := &plan.Step{}
	if r.Plan != nil {
		p = &r.Plan.Steps[i]
	}
	s := status.Of(&r.Run.Steps[i], p)
	// After the end nothing waits any more.
	if r.Run.Phase == events.Done && (s.Pending() || s == status.Asking) {
		return status.Omitted
	}
	return s
}

// words are what states are called.
var words = map[status.State]string{
	status.Undecided: "not run", status.Waiting: "waiting", status.Confirm: "not confirmed", status.Asking: "asking",
	status.Excluded: "excluded",
	status.Running:  "running", status.OK: "ok", status.Changed: "changed", status.Failed: "failed", status.Unreachable: "unreachable",
	status.Ignored: "failed (ignored)", status.Rescued: "failed (rescued)", status.Skipped: "skipped", status.Kept: "kept",
	status.Outdated: "outdated", status.Cancelled: "cancelled", status.Omitted: "not run",
}

// Word is what the state of a step is called.
func (r *Reading) Word(i int) string {
	if r.Run.Steps[i].Marked {
		return status.ByHand
	}
	if r.Run.Check && r.State(i) == status.Changed {
		return "would change"
	}
	return words[r.State(i)]
}

// Name is what a step is called where it stands alone.
func (r *Reading) Name(i int) string {
	name := r.Run.Steps[i].Name
	if r.Plan == nil {
		return termtext.CleanName(cmp.Or(name, events.StepID(i)))
	}
	return termtext.CleanName(r.Plan.NameWithItems(i, cmp.Or(name, r.Plan.Steps[i].Title())))
}

// Label is what a step is called within its scope.
func (r *Reading) Label(i int) string {
	if r.Plan == nil {
		return r.Name(i)
	}
	s := &r.Plan.Steps[i]
	return termtext.CleanName(s.Label(cmp.Or(r.Run.Steps[i].Name, s.Title())))
}

// Host is where a step runs, if that has to be said.
func (r *Reading) Host(i int) string {
	if !r.hosts {
		return ""
	}
	return termtext.CleanName(status.On(&r.Plan.Steps[i]))
}

// Origin is where a step is written, with the steps that include it.
func (r *Reading) Origin(i int) string {
	if r.Plan == nil {
		return ""
	}
	return termtext.CleanName(r.Plan.Steps[i].Origin.Full())
}

// Took is how long a step took.
func (r *Reading) Took(i int) time.Duration {
	s := &r.Run.Steps[i]
	if s.State != events.Settled {
		return 0
	}
	return s.Lasted(s.Ended)
}

// Why is why a step failed, was skipped or did not run: in one line, and what else there is to say.
func (r *Reading) Why(i int) (head string, rest []string) {
	s := &r.Run.Steps[i]
	switch {
	case s.Outcome == events.Lost:
		return termtext.CleanName(events.StepLost{Error: firstLine(s.Error)}.Why()), nil
	case s.Error != "" && s.State == events.Settled:
		lines := strings.Split(s.Error, "\n")
		for i := range lines {
			lines[i] = termtext.CleanName(lines[i])
		}
		return lines[0], lines[1:]
	case s.Outcome == events.Skipped:
		return termtext.CleanName(status.WhySkipped(s.Reason)), nil
	case s.Reason != "":
		return termtext.CleanName(s.Reason), nil
	}
	return "", nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Failed are the steps that have failed, and nothing made that good.
func (r *Reading) Failed() (list []int) {
	for i := range r.Steps() {
		if r.State(i).Bad() {
			list = append(list, i)
		}
	}
	return list
}

// Result is how the run ended, or is so far.
func (r *Reading) Result() events.RunCompleted {
	e := r.Run.Result
	if e.Outcome == "" {
		e = r.Run.Summary()
		e.Spent(&r.Run.Clock.Times)
	}
	return e
}

// Outcome is how the run ended, in a word, and whether that is good, bad or neither.
func (r *Reading) Outcome() (word, grade string) {
	e := r.Result()
	switch {
	case e.Outcome == "":
		return "not ended", "open"
	case e.Outcome != events.RunDone:
		return string(e.Outcome), "bad"
	case r.Run.Check:
		return "done (dry run)", "good"
	case e.Changed > 0:
		return "done, with changes", "good"
	}
	return "done, nothing changed", "good"
}

// Hosts is how the tasks of each host ended, of a run over hosts.
func (r *Reading) Hosts() []events.HostCounts {
	if r.Run.Result.Outcome != "" || !r.hosts {
		return r.Run.Result.Hosts
	}
	return status.Recap(r.Plan, r.Run.Steps)
}

// Line is a line of output, cleaned. Of all control sequences only colours are left in Coloured, and none in Text.
type Line struct {
	Text     string
	Coloured string
	Stderr   bool
}

func newLine(text string, stderr bool) Line {
	text = strings.TrimSuffix(text, "\n")
	return Line{Text: termtext.CleanName(text), Coloured: termtext.Clean([]byte(text)), Stderr: stderr}
}

// Output is what an attempt of a step has printed: all of it, or the last of each stream if that is more than limit bytes. Left is how many
// bytes are not in the lines.
func (r *Reading) Output(i, attempt int, limit int64) (lines []Line, left int64, err error) {
	prefix := r.Run.Steps[i].Out[attempt]
	size := int64(0)
	for _, path := range steplog.Files(r.Out, prefix) {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	if size > limit {
		// Large output is not read to its beginning, so the order of the two streams is not known.
		text, _, err := steplog.Ends(r.Out, prefix, limit/2)
		for stream, part := range text {
			left -= int64(len(part))
			for line := range strings.Lines(part) {
				lines = append(lines, newLine(line, stream == 1))
			}
		}
		return lines, max(size+left, 1), err
	}
	log := steplog.Follow(r.Out, prefix)
	log.Finish()
	for {
		line, ok, err := log.Next()
		if err != nil || !ok {
			return lines, 0, cmp.Or(err, log.Close())
		}
		lines = append(lines, newLine(string(line.Text), line.Stderr))
	}
}

// Attempts are the numbers of the attempts whose output is known, from 0.
func (r *Reading) Attempts(i int) int { return len(r.Run.Steps[i].Out) }

// Duration is a time as people read it: 28ms, 4.2s, 3:07, 2:03:07.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}

// Size is a number of bytes as people read it.
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// Count is one number of a summary.
type Count struct {
	N    int
	Word string
}

// Counts are how many steps are in which state, those that there are, in the order in which people look for them.
func (r *Reading) Counts() (list []Count) {
	n := map[string]int{}
	for i := range r.Steps() {
		n[r.Word(i)]++
	}
	for _, word := range []string{
		"failed", "unreachable", "failed (ignored)", "failed (rescued)", "running", "changed", "would change", "ok", "kept", "outdated",
		"skipped", "excluded", "cancelled", "not confirmed", "asking", "waiting", "not run",
	} {
		if n[word] > 0 {
			list = append(list, Count{n[word], word})
		}
	}
	return list
}
