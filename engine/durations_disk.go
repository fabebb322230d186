package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// durationsFile is what is remembered of a playbook, in a file of its own.
type durationsFile struct {
	Playbook string           `json:"playbook"` // for people
	Steps    map[string]int64 `json:"steps_us"`
}

// durationsPath is the file of a playbook.
func durationsPath(dir string, p *plan.Plan) string {
	return fileOf(dir, ".json", p.Root, p.RootFile)
}

// fileOf is the file in a directory that belongs to something, by what names that.
func fileOf(dir, suffix string, names ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+suffix)
}

// readDurations gives what is remembered of a playbook. Nothing depends on it, so what cannot be read is nothing.
func readDurations(dir string, p *plan.Plan) Durations {
	d := Durations{}
	if dir == "" {
		return d
	}
	text, err := os.ReadFile(durationsPath(dir, p))
	var f durationsFile
	if err != nil || json.Unmarshal(text, &f) != nil {
		return d
	}
	for key, us := range f.Steps {
		if us > 0 {
			d[key] = time.Duration(min(us, longestDuration.Microseconds())) * time.Microsecond
		}
	}
	return d
}

// writeDurations remembers how long the steps of a run took.
func writeDurations(dir string, p *plan.Plan, run Durations) error {
	d := readDurations(dir, p) // again: another run of the playbook may have ended meanwhile
	d.blend(run)
	d.trim(p, mostDurations)
	f := durationsFile{filepath.Join(p.Root, p.RootFile), make(map[string]int64, len(d))}
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

// foresee reads how long the steps took in earlier runs.
func (s *Session) foresee(p *plan.Plan) {
	s.usual = readDurations(s.cfg.Durations, p)
	s.state.prefer(s.usual)
}

// Forecast is how long a plan of this run may take, by the runs before it; nil where nothing is known of it, or the run is
// dry, and takes another time.
func (s *Session) Forecast(digest string) *events.Forecast {
	p, ok := s.planned(digest)
	if !ok || s.cfg.Options.Check {
		return nil
	}
	return forecast(p.plan, p.graph, s.usual, s.cfg.Options.Forks)
}

// keepDurations remembers, right before the run's last record, what its steps took. A run that cannot is none the worse.
func (s *Session) keepDurations() {
	if s.cfg.Durations == "" || s.state.opts.Check || s.trouble != nil || len(s.timing.took) == 0 {
		return
	}
	if err := writeDurations(s.cfg.Durations, s.state.plan, s.timing.took); err != nil {
		s.add(fact.Warned{Step: -1, Message: fmt.Sprintf("how long the steps took is not remembered: %s", err)})
	}
}
