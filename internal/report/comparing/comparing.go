package comparing

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"moon/internal/report/reading"
	"moon/plan/counterpart"
	"moon/plan/show"
)

// Run is one of the two.
type Run struct {
	ID string
	*reading.Reading
}

// Step is a step that was different.
type Step struct {
	Step  string `json:"step"` // its id in the later run, or in the earlier one if it is only there
	Name  string `json:"name"`
	Was   string `json:"was"` // how it ended; "" if the earlier run does not have it
	Now   string `json:"now"`
	Why   string `json:"why,omitempty"` // it ended so, in the later run
	WasMS int64  `json:"was_ms"`
	NowMS int64  `json:"now_ms"`

	Ended  bool   `json:"ended"`            // it ended otherwise
	Time   bool   `json:"time"`             // its time is worth a word
	Output string `json:"output,omitempty"` // the difference of what it printed, of its last attempts
}

// Comparison is what was different.
type Comparison struct {
	Old   string           `json:"old"`
	New   string           `json:"new"`
	WasMS int64            `json:"was_ms"`
	NowMS int64            `json:"now_ms"`
	Was   string           `json:"was"` // how the runs ended
	Now   string           `json:"now"`
	Steps []Step           `json:"steps"`
	Same  int              `json:"same"` // steps in which nothing was different
	Plan  *show.Difference `json:"plan,omitempty"`
}

// A time is worth a word if it is another by so much, and not only by chance.
const (
	noticed  = 500 * time.Millisecond
	ratio    = 1.3
	maxBytes = 256 << 10 // of the output of a step that is compared: its end
	maxDiff  = 60        // lines
)

// Of compares two runs, the earlier one first.
func Of(old, now Run) (*Comparison, error) {
	c := &Comparison{Old: old.ID, New: now.ID, WasMS: milliseconds(old), NowMS: milliseconds(now), Steps: []Step{}}
	c.Was, _ = old.Outcome()
	c.Now, _ = now.Outcome()
	before := matched(old, now)
	taken := map[int]bool{}
	for i := range now.Steps() {
		j := before[i]
		if j < 0 || j >= old.Steps() {
			c.Steps = append(c.Steps, Step{
				Step: id(i), Name: now.Name(i), Now: now.Word(i), NowMS: now.Took(i).Milliseconds(),
				Ended: true, Why: why(now, i),
			})
			continue
		}
		taken[j] = true
		if s := compare(old, now, j, i); s.Ended || s.Time || s.Output != "" {
			c.Steps = append(c.Steps, s)
		} else {
			c.Same++
		}
	}
	for j := range old.Steps() {
		if !taken[j] {
			c.Steps = append(c.Steps, Step{Step: id(j), Name: old.Name(j), Was: old.Word(j), WasMS: old.Took(j).Milliseconds(), Ended: true})
		}
	}
	return c, c.comparePlans(old, now)
}

func id(step int) string { return fmt.Sprintf("step-%04d", step+1) }

func milliseconds(r Run) int64 { return r.Result().DurationMS }

// matched says for each step of the later run which step of the earlier one it is; -1 for none.
func matched(old, now Run) []int {
	if old.Plan != nil && now.Plan != nil {
		return counterpart.Of(now.Plan, old.Plan)
	}
	names := map[string][]int{}
	for j := range old.Steps() {
		names[old.Name(j)] = append(names[old.Name(j)], j)
	}
	list := make([]int, now.Steps())
	for i := range list {
		list[i] = -1
		if same := names[now.Name(i)]; len(same) > 0 { // several of a name are in their order
			list[i], names[now.Name(i)] = same[0], same[1:]
		}
	}
	return list
}

func compare(old, now Run, j, i int) Step {
	s := Step{
		Step: id(i), Name: now.Name(i), Was: old.Word(j), Now: now.Word(i), WasMS: old.Took(j).Milliseconds(),
		NowMS: now.Took(i).Milliseconds(),
	}
	if s.Ended = s.Was != s.Now; s.Ended {
		s.Why = why(now, i)
	}
	was, is := old.Took(j), now.Took(i)
	apart := max(was-is, is-was)
	// Only of steps that did something both times: a skipped one takes no time.
	s.Time = was > 0 && is > 0 && apart >= noticed && float64(max(was, is)) >= ratio*float64(min(was, is))
	if old.Attempts(j) > 0 && now.Attempts(i) > 0 { // what did not run has printed nothing, which is said already
		s.Output = compareOutput(old, now, j, i)
	}
	return s
}

func why(r Run, i int) string {
	head, _ := r.Why(i)
	return head
}

// compareOutput is how the last attempts differ in what they printed.
func compareOutput(old, now Run, j, i int) string {
	was, is := printed(old, j), printed(now, i)
	if was == is {
		return ""
	}
	diff := udiff.Unified(old.ID, now.ID, was, is)
	lines := strings.SplitAfter(strings.TrimSuffix(diff, "\n"), "\n")
	lines = lines[min(2, len(lines)):] // which say what is old and what is new
	if len(lines) > maxDiff {
		lines = append(lines[:maxDiff], fmt.Sprintf("… %d more lines", len(lines)-maxDiff))
	}
	return strings.Join(lines, "")
}

func printed(r Run, i int) string {
	if r.Attempts(i) == 0 {
		return ""
	}
	lines, left, err := r.Output(i, r.Attempts(i)-1, maxBytes)
	if err != nil {
		return "its output cannot be read: " + err.Error() + "\n"
	}
	var b strings.Builder
	if left > 0 {
		fmt.Fprintf(&b, "… %s more\n", reading.Size(left))
	}
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func (c *Comparison) comparePlans(old, now Run) error {
	if old.Plan == nil || now.Plan == nil || old.Plan.Digest == now.Plan.Digest {
		return nil
	}
	was, err := show.ComparableOf(old.Plan)
	if err != nil {
		return err
	}
	is, err := show.ComparableOf(now.Plan)
	if err != nil {
		return err
	}
	c.Plan = show.Diff(was, is)
	return nil
}

// JSON writes the comparison as a document.
func (c *Comparison) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

func took(ms int64) string { return reading.Duration(time.Duration(ms) * time.Millisecond) }

// Write prints the comparison for people.
func (c *Comparison) Write(w io.Writer, width int) error {
	fmt.Fprintf(w, "%s  %s  %s\n%s  %s  %s\n", c.Old, c.Was, took(c.WasMS), c.New, c.Now, took(c.NowMS))
	c.section(w, "ended otherwise", func(s *Step) bool { return s.Ended }, func(s *Step) string {
		switch {
		case s.Was == "":
			return "only in " + c.New + ": " + s.Now
		case s.Now == "":
			return "only in " + c.Old + ": " + s.Was
		}
		return s.Was + " → " + s.Now
	})
	c.section(w, "took longer, or less long", func(s *Step) bool { return s.Time }, func(s *Step) string {
		return took(s.WasMS) + " → " + took(s.NowMS)
	})
	c.section(w, "printed something else", func(s *Step) bool { return s.Output != "" }, func(*Step) string { return "" })
	fmt.Fprintf(w, "\n%s the same\n", count(c.Same))
	if c.Plan == nil {
		return nil
	}
	fmt.Fprint(w, "\nwhat was to be done\n")
	return c.Plan.Write(w, width)
}

func count(n int) string {
	if n == 1 {
		return "1 step was"
	}
	return fmt.Sprintf("%d steps were", n)
}

func (c *Comparison) section(w io.Writer, title string, is func(*Step) bool, words func(*Step) string) {
	began := false
	for i := range c.Steps {
		s := &c.Steps[i]
		if !is(s) {
			continue
		}
		if !began {
			fmt.Fprintf(w, "\n%s\n", title)
		}
		began = true
		fmt.Fprintln(w, strings.TrimRight("  "+s.Step+"  "+s.Name+"  "+words(s), " "))
		if s.Why != "" && strings.HasPrefix(title, "ended") {
			fmt.Fprintf(w, "             %s\n", s.Why)
		}
		if strings.HasPrefix(title, "printed") {
			for line := range strings.Lines(s.Output) {
				fmt.Fprint(w, "    "+line)
			}
			fmt.Fprintln(w)
		}
	}
}
