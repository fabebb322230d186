package fact

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
)

// Record is one line of the journal.
type Record struct {
	Seq   uint64        // dense, from 1
	Run   string        // id of the run
	At    time.Time     // wall clock, UTC; for people
	Mono  time.Duration // since the process started this run or resumed it; for durations
	Cause uint64        // seq of the record that led to this one; 0 if none did
	Fact  Fact
}

type recordJSON struct {
	Seq   uint64          `json:"seq"`
	Run   string          `json:"run"`
	At    time.Time       `json:"at"`
	Mono  time.Duration   `json:"mono"`
	Cause uint64          `json:"cause,omitempty"`
	Kind  string          `json:"kind"`
	Data  json.RawMessage `json:"data,omitempty"`
	Blob  string          `json:"blob,omitempty"` // the file that has the data
}

var kinds = map[string]Fact{
	"run.created":      RunCreated{},
	"run.started":      RunStarted{},
	"run.expects":      RunExpects{},
	"run.paused":       RunPaused{},
	"run.replanned":    RunReplanned{},
	"run.resumed":      RunResumed{},
	"run.exported":     RunExported{},
	"run.finished":     RunFinished{},
	"cond.evaluated":   CondEvaluated{},
	"attempt.started":  AttemptStarted{},
	"attempt.stopping": AttemptStopping{},
	"attempt.finished": AttemptFinished{},
	"values.missing":   ValuesMissing{},
	"reads.changed":    ReadsChanged{},
	"retry.scheduled":  RetryScheduled{},
	"break.probed":     BreakProbed{},
	"gate.opened":      GateOpened{},
	"gate.resolved":    GateResolved{},
	"scope.timed_out":  ScopeTimedOut{},
	"node.warned":      Warned{},
	"command.accepted": Commanded{},
	"command.rejected": Refused{},
}

var kindOf = func() map[reflect.Type]string {
	m := map[reflect.Type]string{}
	for name, f := range kinds {
		m[reflect.TypeOf(f)] = name
	}
	return m
}()

// Kind returns the word that names a fact's kind on disk.
func Kind(f Fact) string { return kindOf[reflect.TypeOf(f)] }

// MarshalJSON writes one line's JSON, without the checksum and the newline.
func (r Record) MarshalJSON() ([]byte, error) { return r.Encode(math.MaxInt, nil) }

// Encode is MarshalJSON with a limit: data with more than most bytes is not in the line. Store keeps it, and gives the name it
// is to be found by.
func (r Record) Encode(most int, store func(data []byte) (string, error)) ([]byte, error) {
	w := recordJSON{Seq: r.Seq, Run: r.Run, At: r.At.UTC(), Mono: r.Mono, Cause: r.Cause, Kind: Kind(r.Fact)}
	data, err := json.Marshal(r.Fact)
	if err == nil && len(data) > most {
		w.Blob, err = store(data)
	} else {
		w.Data = data
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.Kind, err)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote and refuses a kind it does not know.
func (r *Record) UnmarshalJSON(b []byte) error {
	return r.Decode(b, func(string) ([]byte, error) { return nil, errors.New("its data is in another file") })
}

// Decode reads what Encode wrote. Load gives what was stored under a name.
func (r *Record) Decode(b []byte, load func(name string) ([]byte, error)) error {
	var w recordJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = Record{w.Seq, w.Run, w.At, w.Mono, w.Cause, nil}
	zero, ok := kinds[w.Kind]
	if !ok {
		return fmt.Errorf("unknown kind of record %q", w.Kind)
	}
	if w.Blob != "" {
		data, err := load(w.Blob)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Kind, err)
		}
		w.Data = data
	}
	v := reflect.New(reflect.TypeOf(zero))
	if err := json.Unmarshal(w.Data, v.Interface()); err != nil {
		return fmt.Errorf("%s: %w", w.Kind, err)
	}
	r.Fact = v.Elem().Interface().(Fact)
	return nil
}
