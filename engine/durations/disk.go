package durations

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"time"

	"moon/engine/journal"
	"moon/events"
	"moon/events/rundir"
	"moon/plan"
)

// file is what is remembered of a playbook, in a file of its own.
type file struct {
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

// pathOf is the file of a playbook.
func pathOf(dir string, p *plan.Plan) string {
	return rundir.FileFor(dir, ".json", p.Root, p.RootFile)
}

// Read gives what is remembered of a playbook. Nothing depends on it, so what cannot be read is nothing.
func Read(dir string, p *plan.Plan) (Steps, Lasts) {
	d, last := Steps{}, Lasts{}
	if dir == "" {
		return d, last
	}
	text, err := os.ReadFile(pathOf(dir, p))
	var f file
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

// Write remembers how long the steps of a run took, and how they ended.
func Write(dir string, p *plan.Plan, run *Stopwatch) error {
	d, last := Read(dir, p) // again: another run of the playbook may have ended meanwhile
	d.blend(run.took)
	d.Trim(p, mostSteps)
	maps.Copy(last, run.last)
	last.trim(mostSteps)
	f := file{filepath.Join(p.Root, p.RootFile), make(map[string]int64, len(d)), make(map[string]ended, len(last))}
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
	return disk.Replace(pathOf(dir, p), text)
}
