package events

import (
	"fmt"
	"strings"
)

// Outcome is how a step or barrier ended. The zero value, None, means it has not ended yet.
type Outcome uint8

// The outcomes. Skipped and Omitted stay apart: Skipped means the step's own condition (or tag, or the user)
// said no and its successors go on; Omitted means it was never reached.
const (
	None Outcome = iota
	OK
	Changed
	Skipped
	Failed
	Timeout
	Rejected
	Cancelled
	Lost
	Omitted
	Unreachable // its host could not be reached: nothing was tried
)

// outcomes is how many there are, None included.
const outcomes = int(Unreachable) + 1

var outcomeWords = [outcomes]string{
	None: "none", OK: "ok", Changed: "changed", Skipped: "skipped", Failed: "failed", Timeout: "timeout",
	Rejected: "rejected", Cancelled: "cancelled", Lost: "lost", Omitted: "omitted", Unreachable: "unreachable",
}

func (o Outcome) String() string {
	if int(o) < outcomes {
		return outcomeWords[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// MarshalText writes the word used in journals and events.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the word written by MarshalText.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, w := range outcomeWords {
		if w == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", text)
}

// OutcomeSet is what an edge of the execution graph waits for: a set of outcomes.
type OutcomeSet uint16

// The named sets of the core model.
const (
	OnSuccess OutcomeSet = 1<<OK | 1<<Changed | 1<<Skipped
	OnFailure OutcomeSet = 1<<Failed | 1<<Timeout | 1<<Rejected | 1<<Lost
	OnFinish  OutcomeSet = OnSuccess | OnFailure | 1<<Cancelled | 1<<Omitted | 1<<Unreachable
	OnChanged OutcomeSet = 1 << Changed
	OnSound   OutcomeSet = OnFinish &^ Bad // however it ended, if it has not failed
)

// Bad are the ends that nobody wanted: failures, and a host that could not be reached, which no rescue can do anything about.
const Bad = OnFailure | 1<<Unreachable

// Has reports whether the outcome is in the set.
func (s OutcomeSet) Has(o Outcome) bool { return s&(1<<o) != 0 }

// String writes the named set, or the outcomes joined by "|".
func (s OutcomeSet) String() string {
	switch s {
	case OnSuccess:
		return "success"
	case OnFailure:
		return "failure"
	case Bad:
		return "bad"
	case OnFinish:
		return "finish"
	case OnChanged:
		return "changed"
	case OnSound:
		return "not-failed"
	}
	var words []string
	for o := OK; int(o) < outcomes; o++ {
		if s.Has(o) {
			words = append(words, o.String())
		}
	}
	return strings.Join(words, "|")
}
