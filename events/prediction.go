package events

import (
	"fmt"
	"time"

	"moon/internal/pattern"
)

// Prediction is what a step would do, if everything before it were done as predicted and nothing else happened meanwhile.
type Prediction struct {
	Step    int    `json:"-"`
	After   []int  `json:"-"`                 // the steps whose results it depends on, where those keep it from being known
	Diff    Diff   `json:"diff,omitzero"`     // Kind unknown: it cannot be predicted, and Summary may say why; empty: it would not run
	Skipped string `json:"skipped,omitempty"` // why it would be skipped
	Error   string `json:"error,omitempty"`   // why it would fail
	Away    bool   `json:"away,omitempty"`    // its host is not reached, for the reason in Error: what it would do is not known
	Maybe   bool   `json:"maybe,omitempty"`   // it may also be skipped: its condition is open
	// Age is how long ago what it is about was changed last, by the clock of its machine; 0 if that is not known.
	Age    time.Duration `json:"-"`
	Took   time.Duration `json:"-"` // how long its machine needed until it knew the age
	Masked bool          `json:"-"` // secrets were taken out of it
	// Unchanging says that it counts as no change whatever it does: its changed_when is false.
	Unchanging bool `json:"-"`
	// Found is the digest of what is there now, of a removal that is refused because something else was left there.
	Found string `json:"-"`
	// Cause says of a step that has made things in earlier runs why it would change something now.
	Cause DriftCause `json:"drift,omitempty"`
}

// DriftCause is why what a step has made is not what the step wants.
type DriftCause string

// The reasons: the machine has changed since the run, the playbook has, or both have.
const (
	Drifted       DriftCause = "drifted"
	Edited        DriftCause = "edited"
	DriftedEdited DriftCause = "both"
)

// Changes reports whether it is known that the step would change something.
func (f *Prediction) Changes() bool {
	switch f.Diff.Kind {
	case ChangeCreate, ChangeUpdate, ChangeDelete:
		return true
	case ChangeNone, ChangeUnknown:
	}
	return false
}

// MayChange reports whether the step would change something, or may: what cannot be predicted counts as a change.
func (f *Prediction) MayChange() bool {
	return f.Changes() || f.Diff.Kind == ChangeUnknown && !f.Unchanging
}

// Drift says in words how the end of a step differs from what was predicted, or "".
func (f *Prediction) Drift(outcome Outcome, is *Diff) string {
	if f.Diff.Kind == "" || f.Diff.Kind == ChangeUnknown || is == nil || outcome != OK && outcome != Changed {
		return ""
	}
	switch {
	case f.Diff.Kind != is.Kind:
		return fmt.Sprintf("predicted %s, but was %s", kindWords(&f.Diff), kindWords(is))
	case !SameSummary(&f.Diff, is) && f.Changes():
		return fmt.Sprintf("predicted %s, but was %s", kindWords(&f.Diff), kindWords(is))
	// Only if both have a text: without --diff there is none to compare.
	case f.Diff.Text != is.Text && f.Diff.Text != "" && is.Text != "":
		return "the text differs from the prediction"
	}
	return ""
}

// aboveIt says how many directories a new one brings along. Of two steps that make directories beside each other the one that comes
// first does, and which that is only the run decides: both make what they were to make.
var aboveIt = pattern.New(`^(new directory) \(creates \d+ parents? too\)`)

// ownPart is a summary without what may be another step's.
func ownPart(summary string) string { return aboveIt.ReplaceAllString(summary, "$1") }

// SameSummary reports whether the summaries of two changes say the same, as far as they are the step's own.
func SameSummary(a, b *Diff) bool { return ownPart(a.Summary) == ownPart(b.Summary) }

// Words are the kind of a change with its summary.
func (d *Diff) Words() string { return kindWords(d) }

func kindWords(d *Diff) string {
	word := string(d.Kind)
	if d.Kind == ChangeNone {
		word = "no change"
	}
	if d.Summary != "" && d.Kind != ChangeNone {
		word += " (" + d.Summary + ")"
	}
	return word
}
