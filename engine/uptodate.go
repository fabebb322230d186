package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"moon/engine/journal"
	"moon/events/rundir"
	"moon/exec"
	"moon/plan"
)

// record is what is remembered, across runs, of an incremental step that succeeded.
type record struct {
	Playbook string `json:"playbook"` // for people
	Step     string `json:"step"`
	Digest   string `json:"digest"`
}

// incremental is what a step with sources or generates needs to find out whether it is up to date; nil for any other. Records
// is the directory that remembers.
func incremental(p *plan.Plan, ps *plan.Step, call *plan.Call, records string, force bool) (*exec.Incremental, error) {
	if len(call.Sources)+len(call.Generates) == 0 {
		return nil, nil
	}
	path := recordOf(p, ps, records)
	inc := &exec.Incremental{Sources: call.Sources, Generates: call.Generates, Force: force}
	if ps.NoLog {
		inc.Identity = ps.Digest
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what is recorded of its sources: %w", err)
	}
	var r record
	if json.Unmarshal(text, &r) == nil { // a damaged one is none: the step runs
		inc.Recorded = r.Digest
	}
	inc.Forget = func() error {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		// Forgotten before the step runs: a crash during it must not leave a record that says up to date.
		if err == nil { // a loss of power must not bring it back
			err = journal.Disk{}.SyncDir(records)
		}
		if err != nil {
			return fmt.Errorf("forget what is recorded of its sources: %w", err)
		}
		return nil
	}
	return inc, nil
}

// recordOf is the file that remembers a step of a playbook.
func recordOf(p *plan.Plan, ps *plan.Step, records string) string {
	return rundir.FileFor(records, ".json", p.Root, p.RootFile, ps.Path, ps.Host)
}

// remember records that a step succeeded, and what it was made from.
func (s *attempts) remember(p *plan.Plan, ps *plan.Step, digest string) error {
	text, err := json.Marshal(record{filepath.Join(p.Root, p.RootFile), ps.Path, digest})
	if err != nil {
		return err
	}
	var disk journal.Disk // not the run's own: these files outlive it
	if err := disk.MkdirAll(s.cfg.Records); err != nil {
		return err
	}
	return disk.Replace(recordOf(p, ps, s.cfg.Records), text)
}
