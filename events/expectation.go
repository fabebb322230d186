package events

import "time"

// Expectations are the predictions that a saved plan keeps. A run can be held to them.
type Expectations struct {
	Made  time.Time     `json:"made"` // in UTC, to the second
	Steps []Expectation `json:"steps"`
}

// Expectation is the prediction of one step, by what names the step in every plan of a run.
type Expectation struct {
	Path string `json:"path"`
	Host string `json:"host,omitempty"`
	Prediction
	// Text is the digest of the diff's text, which itself is kept only if it is short; "" if there is none.
	Text string `json:"text_digest,omitempty"`
	// Partly says why not all of it is kept, and only the rest can be compared: no_log, or secrets that are masked; "" for all of it.
	Partly Partly `json:"partly,omitempty"`
}

// Partly is why a prediction is not kept whole.
type Partly string

// With no_log only the kind of change is kept; of a text with secrets, what is left when they are masked.
const (
	PartlyNoLog   Partly = "no_log"
	PartlySecrets Partly = "secrets"
)
