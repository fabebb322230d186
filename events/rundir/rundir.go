package rundir

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// Of is the directory of a run, by its id. runs is the directory that has all of them.
func Of(runs, id string) string { return filepath.Join(runs, id) }

// Runs is the directory that has a run and all the others.
func Runs(dir string) string { return filepath.Dir(dir) }

// Journal is the file of what happened.
func Journal(dir string) string { return filepath.Join(dir, "journal.jsonl") }

// Blobs is the directory of the values that are too large for the journal.
func Blobs(dir string) string { return filepath.Join(dir, "blobs") }

// Output is the directory of the files that events.Step.Out names.
func Output(dir string) string { return filepath.Join(dir, "out") }

// Plans is the directory of what the plans of a run were made from.
func Plans(dir string) string { return filepath.Join(dir, "plans") }

// Plan is what one of the plans was made from. A digest from outside cannot lead out of the directory.
func Plan(dir, digest string) string {
	return filepath.Join(Plans(dir), filepath.Base(digest)+".json")
}

// Lock is the file that the process which has the run holds.
func Lock(dir string) string { return filepath.Join(dir, "lock") }

// Socket is where commands come in.
func Socket(dir string) string { return filepath.Join(dir, "control.sock") }

// FileFor is the file next to the runs, in a directory of such files, that belongs to what the names stand for together: a playbook, or a
// step of one. A digest stands in for the names because they may hold anything.
func FileFor(dir, suffix string, names ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+suffix)
}
