package plan

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"moon/internal/pattern"
	"moon/plan/dialect"
	"moon/plan/eval/value"
)

// LoopResults is a loop over what another loop has registered.
var LoopResults = pattern.New(`^\s*(?:\{\{)?\s*(\w+)\.results\s*(?:\|\s*(?:list|default\(\s*\[\s*\]\s*\)|d\(\s*\[\s*\]\s*\))\s*)*(?:\}\})?\s*$`)

// Absence is why a step that is over has given no value.
type Absence struct {
	How     string // continues its name: "did not run"
	Spreads bool   // what needs the value is skipped because of it, and has not failed
	left    bool   // a person excludes the step
}

// Missing says that a step needs a value that was never produced.
type Missing struct {
	Name  string
	Steps []int // the steps that would have given it

	// Of a value that will not come any more: why, and which of the steps says so.
	Why Absence
	Who string // "step-0002 «fetch»"
}

// Reason is why a step is skipped for lack of the value, behind "needs: " or "uses ".
func (m *Missing) Reason() string { return "the result of " + m.Who + ", which " + m.Why.How }

// Never reports whether the value will not come any more.
func (m *Missing) Never() bool { return m.Why.How != "" }

func (m *Missing) Error() string {
	if m.Never() {
		return fmt.Sprintf("`%s` has no value: %s %s", m.Name, m.Who, m.Why.How)
	}
	return fmt.Sprintf("`%s` has no value: the step that gives it did not run", m.Name)
}

// Result builds what `register` gives from the pieces of an attempt.
type Result struct {
	Dialect        dialect.Dialect
	Stdout, Stderr Output
	RC             *int
	Changed        bool
	Failed         bool
	Skipped        bool
	Condition      string // that it was skipped by
	Whole          bool   // the output keeps the newlines at its end, in plays
	Unreachable    bool
	Start, End     time.Time
	Duration       time.Duration
	Attempts       int
	Retries        int    // how many attempts there may be after the first
	Again          bool   // another attempt is needed
	Message        string // why it failed
	Said           string // the same in the words of the action; "" if only conditions of the step found it
	FailedWhen     *bool  // what failed_when says; only plays have it in the result
	Fields         map[string]any
}

// Registered is the value of the result.
func (r Result) Registered() map[string]any { return registered.In(r.Dialect)(r) }

// registered are the two forms of a result.
var registered = dialect.Of[func(Result) map[string]any]{Steps: Result.inSteps, Ansible: Result.inPlays}

// inSteps is the value of the result as steps know it: every name is there, whatever the action is.
func (r Result) inSteps() map[string]any {
	if r.Skipped {
		return map[string]any{"skipped": true, "changed": false, "failed": false}
	}
	m := map[string]any{
		"stdout": r.Stdout.entry(""), "stdout_lines": r.Stdout.lines(""), "stderr": r.Stderr.entry(""), "stderr_lines": r.Stderr.lines(""),
		"changed": r.Changed, "failed": r.Failed, "skipped": false,
		"start": r.Start.UTC().Format(time.RFC3339Nano), "end": r.End.UTC().Format(time.RFC3339Nano),
		"duration_ms": int(r.Duration.Milliseconds()), "attempts": r.Attempts,
	}
	if r.RC != nil {
		m["rc"] = *r.RC
	} else {
		m["rc"] = 0
	}
	if r.Message != "" {
		m["msg"] = r.Message
	}
	// The action's own fields count above those that all results have.
	maps.Copy(m, r.Fields)
	return m
}

// inPlays is the value of the result as playbooks of plays know it: output without the newlines at its end, and only of what
// runs a command.
func (r Result) inPlays() map[string]any {
	if r.Skipped && r.Fields["skipped"] == true { // by the action
		m := map[string]any{"changed": false, "failed": false}
		maps.Copy(m, r.Fields)
		return m
	}
	if r.Skipped {
		m := map[string]any{"skipped": true, "changed": false, "skip_reason": "Conditional result was False"}
		if r.Condition != "" {
			m["false_condition"] = r.Condition
		}
		return m
	}
	m := map[string]any{"changed": r.Changed, "failed": r.Failed}
	if r.RC != nil {
		trim := "\r\n"
		// Ansible strips these only where a module runs the command, and so not for script and raw.
		if r.Whole {
			trim = ""
		}
		m["rc"], m["stdout"], m["stderr"], m["msg"] = *r.RC, r.Stdout.entry(trim), r.Stderr.entry(trim), ""
		m["stdout_lines"], m["stderr_lines"] = r.Stdout.lines(trim), r.Stderr.lines(trim)
	}
	if msg := r.messageInPlays(); msg != "" {
		m["msg"] = msg
	}
	if r.Retries > 0 {
		m["attempts"] = r.Attempts
		if r.Again { // Ansible does not count the one before the retries if all of them fail
			m["attempts"] = min(r.Attempts, r.Retries)
		}
	}
	if r.FailedWhen != nil {
		m["failed_when_result"] = *r.FailedWhen
	}
	maps.Copy(m, r.Fields)
	if r.Unreachable {
		m["unreachable"] = true
	}
	return m
}

// messageInPlays is why an attempt failed. What the step's conditions find is not among it: plays have failed_when_result for that.
func (r Result) messageInPlays() string {
	msg := r.Message
	if r.Said != "" {
		msg = r.Said
	} else if r.FailedWhen != nil || r.Again {
		msg = ""
	}
	// Ansible's command has the same words for every status.
	if r.RC != nil && msg == fmt.Sprintf("exit status %d", *r.RC) {
		return "non-zero return code"
	}
	return msg
}

func lines(text string) []any {
	list := []any{}
	if text == "" {
		return list
	}
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		list = append(list, strings.TrimSuffix(l, "\r"))
	}
	return list
}

// Results are what the steps of a run have produced so far. The engine keeps them; while planning there are none.
type Results interface {
	// Registered is what `register` gives for the step. It is not ok for a step that has no result: not run yet,
	// omitted, cancelled.
	Registered(step int) (result map[string]any, ok bool)
	// Assigned are the variables the step has set. It is not ok for a step that did not run, or was skipped.
	Assigned(step int) (values map[string]any, ok bool)
	// Skipped reports whether the step was skipped. It is not ok for a step that has not ended, or never will.
	Skipped(step int) (skipped, ok bool)
	// Omitted reports whether the step was never reached, and will not be.
	Omitted(step int) bool
	// Absent says why the step has given nothing. It is not ok for one that has run, or still may.
	Absent(step int) (Absence, bool)
	// Failed are the steps that have failed for good: neither ignored nor rescued, nor taken back since.
	Failed() []int
	// Broken reports whether the step failed and has a rescue. Its result is then registered, whatever it registers.
	Broken(step int) bool
}

// Output is what a step has printed to one stream. Either Text is all of it, or Read gives it: then it is kept in a file, and is
// read when a step uses it.
type Output struct {
	Text string
	Read func() (string, error)
	From string // what Read reads, for a journal
}

// Later is an entry of a registered result that is made when it is used.
type Later struct {
	Make func() any
	From string // that of the output; "" if it is made of another entry
}

// MarshalJSON implements json.Marshaler: what is not made has no text.
func (*Later) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// LargeLines is how large an output may be, in bytes, whose lines are made before they are used.
const LargeLines = 8 << 10

// entry is the text under its name. Trim is what plays leave out at the end.
func (o Output) entry(trim string) any {
	if o.Read == nil {
		return strings.TrimRight(o.Text, trim)
	}
	return &Later{func() any { return o.read(func(text string) any { return strings.TrimRight(text, trim) }) }, o.From}
}

// lines are those of the text.
func (o Output) lines(trim string) any {
	split := func(text string) any { return lines(strings.TrimRight(text, trim)) }
	if o.Read == nil && len(o.Text) <= LargeLines {
		return split(o.Text)
	}
	return &Later{func() any { return o.read(split) }, o.From}
}

// Whole is the text, wherever it is.
func (o Output) Whole() (string, error) {
	if o.Read == nil {
		return o.Text, nil
	}
	return o.Read()
}

func (o Output) read(then func(text string) any) any {
	if o.Read == nil {
		return then(o.Text)
	}
	text, err := o.Read()
	// The step that uses the output fails, and not the one that printed it.
	if err != nil {
		return value.Fault{Err: &value.Error{Kind: value.Failure, Message: err.Error()}}
	}
	return then(text)
}

// TooLarge is why an output cannot be used: it has more bytes than the limit allows.
type TooLarge struct{ Size, Limit int64 }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the step printed %s, and its result may have %s; raise the limit with --max-result", sizeInWords(e.Size),
		sizeInWords(e.Limit))
}

// sizeInWords is a number of bytes for people. It is exact where a difference of the next digit would count.
func sizeInWords(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// lateResult is a registered result with entries that are made when they are used.
type lateResult map[string]any

// Get implements eval.Object.
func (r lateResult) Get(key string) (any, bool) {
	v, ok := r[key]
	return makeEntry(v), ok
}

// Keys implements eval.Object.
func (r lateResult) Keys() []string { return SortedKeys(r) }

// makeEntry is an entry of a result as a value.
func makeEntry(v any) any {
	if l, ok := v.(*Later); ok {
		return l.Make()
	}
	return v
}

// AsValue is a registered result as a value of a variable.
func AsValue(r map[string]any) any {
	for _, v := range r {
		if _, late := v.(*Later); late {
			return lateResult(r)
		}
	}
	return r
}

// Entire makes all that is still to be made of a value.
func Entire(v any) any {
	switch v := v.(type) {
	case lateResult:
		m := make(map[string]any, len(v))
		for key := range v {
			m[key], _ = v.Get(key)
			m[key] = Entire(m[key])
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Entire(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, item := range v {
			m[key] = Entire(item)
		}
		return m
	}
	return v
}

// FaultIn is the first value inside of another that cannot be had, or nil.
func FaultIn(v any) *value.Fault {
	switch v := v.(type) {
	case value.Fault:
		return &v
	case []any:
		for _, item := range v {
			if f := FaultIn(item); f != nil {
				return f
			}
		}
	case map[string]any:
		// In order, so that the same one is reported each time.
		for _, key := range SortedKeys(v) {
			if f := FaultIn(v[key]); f != nil {
				return f
			}
		}
	}
	return nil
}

// collectedInPlays is what a loop registers in a play.
func collectedInPlays(all []any, _ map[string]any, changed, failed, skipped bool) any {
	sum := map[string]any{"results": all, "changed": changed, "skipped": skipped && len(all) > 0, "msg": "All items completed"}
	switch {
	case failed:
		sum["failed"], sum["msg"] = true, "One or more items failed"
	case skipped:
		sum["msg"] = "All items skipped"
	}
	return sum
}
