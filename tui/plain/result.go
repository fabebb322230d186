package plain

import "time"

// Head is what a list of runs says of each, for programs.
type Head struct {
	Run        string    `json:"run"`
	Playbook   string    `json:"playbook"`
	Digest     string    `json:"digest"`
	Started    time.Time `json:"started"`
	DurationMS int64     `json:"duration_ms"`         // of run time
	WaitedMS   int64     `json:"waited_ms,omitempty"` // for a person
	Outcome    string    `json:"outcome"`             // done, failed, stopped, interrupted, running, died or damaged
	Check      bool      `json:"check"`
	TotalSteps int       `json:"total_steps"`
	Done       int       `json:"done"`
	Changed    int       `json:"changed"`
	Failed     int       `json:"failed"`
	Dir        string    `json:"dir"`

	Process    *Process `json:"process,omitempty"`    // that runs it now
	Concurrent []string `json:"concurrent,omitempty"` // runs in progress of the same playbook on the same hosts
}

// Process is who runs a run.
type Process struct {
	PID   int       `json:"pid"`
	User  string    `json:"user"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// Result is all that is recorded of one run, for programs.
type Result struct {
	Head
	Moon  string `json:"moon"`
	Actor string `json:"actor"`
	Host  string `json:"host"`
	Account
}
