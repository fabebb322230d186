package exported

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"moon/engine/journal"
	"moon/events/rundir"
	"moon/plan/found"
)

// Most is how large the values of a run may be as JSON: they are kept in one record, and whole playbooks are planned with them.
const Most = 1 << 20

// Last is what a playbook has exported last.
type Last struct {
	Playbook string       `json:"playbook"` // its absolute path
	Run      string       `json:"run"`
	At       time.Time    `json:"at"`
	Values   found.Fields `json:"values"`
}

// Check refuses values that are too large.
func Check(values map[string]any) error {
	text, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("exports: %w", err)
	}
	if len(text) <= Most {
		return nil
	}
	// One value usually is the reason.
	name, size := "", 0
	for n, v := range values {
		one, err := json.Marshal(v)
		if err == nil && (len(one) > size || len(one) == size && n < name) {
			name, size = n, len(one)
		}
	}
	return fmt.Errorf("the exports have %d bytes as JSON, and may have %d; the largest is `%s`: let a step write it to a file, and export the path",
		len(text), Most, name)
}

// Keep takes the place of what the playbook has exported before.
func Keep(dir string, last Last) error {
	text, err := json.Marshal(last)
	if err != nil {
		return fmt.Errorf("exports: %w", err)
	}
	var disk journal.Disk // not that of a run: the file outlives it
	if err := disk.MkdirAll(dir); err != nil {
		return fmt.Errorf("keep the exports: %w", err)
	}
	if err := disk.Replace(fileOf(dir, last.Playbook), text); err != nil {
		return fmt.Errorf("keep the exports: %w", err)
	}
	return nil
}

// Drop forgets what a playbook has exported: what it had set up is gone.
func Drop(dir, playbook string) error {
	if err := os.Remove(fileOf(dir, playbook)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop the exports: %w", err)
	}
	return nil
}

// Read gives what a playbook, by its absolute path, has exported last. It is not ok if there is nothing.
func Read(dir, playbook string) (last Last, ok bool, err error) {
	text, err := os.ReadFile(fileOf(dir, playbook))
	if errors.Is(err, fs.ErrNotExist) {
		return last, false, nil
	}
	if err != nil {
		return last, false, fmt.Errorf("read exports: %w", err)
	}
	if err := json.Unmarshal(text, &last); err != nil {
		return last, false, fmt.Errorf("read exports: %s: %w", fileOf(dir, playbook), err)
	}
	return last, true, nil
}

// fileOf is the file of a playbook.
func fileOf(dir, playbook string) string {
	return rundir.FileFor(dir, ".json", filepath.Dir(playbook), filepath.Base(playbook))
}
