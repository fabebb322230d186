package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"moon/engine/graph"
	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// durationsFile is what is remembered of a playbook, in a file of its own.
type durationsFile struct {
	Playbook string           `json:"playbook"` // for people
	Steps    map[string]int64 `json:"steps_us"`
	Last     map[string]ended `json:"last,omitempty"`
}

// ended is how a step ended last.
type ended struct {
	At      int64          `json:"at"` // seconds since 1970
	Outcome events.Outcome `json:"outcome"`
	Took    int64          `json:"us"`
}

// durationsPath is the file of a playbook.
func durationsPath(dir string, p *plan.Plan) string {
	return fileOf(dir, ".json", p.Root, p.RootFile)
}

// readDurations gives what is remembered of a playbook. Nothing depends on it, so what cannot be read is nothing.
func readDurations(dir string, p *plan.Plan) (Durations, Lasts) {
	d, last := Durations{}, Lasts{}
	if dir == "" {
		return d, last
	}
	text, err := os.ReadFile(durationsPath(dir, p))
	var f durationsFile
	if err != nil || json.Unmarshal(text, &f) != nil {
		return d, last
	}
	for key, us := range f.Steps {
		if us > 0 {
			d[key] = time.Duration(min(us, longestDuration.Microseconds())) * time.Microsecond
		}
	}
	for key, e := range f.Last {
		if e.At > 0 && e.Took >= 0 {
			took := time.Duration(min(e.Took, longestDuration.Microseconds())) * time.Microsecond
			last[key] = events.Last{At: time.Unix(e.At, 0), Outcome: e.Outcome, Took: took}
		}
	}
	return d, last
}

// writeDurations remembers how long the steps of a run took, and how they ended.
func writeDurations(dir string, p *plan.Plan, run *stopwatch) error {
	d, last := readDurations(dir, p) // again: another run of the playbook may have ended meanwhile
	d.blend(run.took)
	d.trim(p, mostDurations)
	maps.Copy(last, run.last)
	last.trim(mostDurations)
	f := durationsFile{filepath.Join(p.Root, p.RootFile), make(map[string]int64, len(d)), make(map[string]ended, len(last))}
	for key, e := range last {
		f.Last[key] = ended{e.At.Unix(), e.Outcome, e.Took.Microseconds()}
	}
	for key, took := range d {
		f.Steps[key] = took.Microseconds()
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	var disk journal.Disk // not the run's own: this file outlives it
	if err := disk.MkdirAll(dir); err != nil {
		return err
	}
	return disk.Replace(durationsPath(dir, p), text)
}

// loadDurations reads how long the steps took in earlier runs.
func (s *observer) loadDurations(p *plan.Plan) {
	s.usual, s.lately = readDurations(s.cfg.Durations, p)
	s.state.Prefer(func(p *plan.Plan, g *graph.Graph) []int64 { return ranks(p, g, s.usual) })
}

// keepDurations remembers, right before the run's last record, what its steps took. A run that cannot is none the worse.
func (s *observer) keepDurations() {
	if s.cfg.Durations == "" || s.state.Options().Check || s.trouble != nil || len(s.timing.last) == 0 {
		return
	}
	if err := writeDurations(s.cfg.Durations, s.state.Plan(), s.timing); err != nil {
		s.add(fact.Warned{Step: -1, Message: fmt.Sprintf("how long the steps took is not remembered: %s", err)})
	}
}
