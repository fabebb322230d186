package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"moon/events/rundir"
	"moon/exec/fsys"
)

// Dir is the state directory of a user.
type Dir struct{ path string }

// Find returns $XDG_STATE_HOME/moon, which need not exist yet. It is refused if another user decides what is in it.
func Find() (Dir, error) {
	state, err := home()
	if err != nil {
		return Dir{}, err
	}
	dir := filepath.Join(state, "moon")
	// moon believes what is in it, down to which programs are trusted, and what root writes there could be led elsewhere.
	if err := (fsys.Owner{UID: os.Geteuid()}).Check(dir); err != nil {
		return Dir{}, fmt.Errorf("state directory %s: %w\n  %s", dir, err, elsewhere(err))
	}
	return Dir{dir}, nil
}

// home is where programs keep their state.
func home() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	// The specification asks to ignore relative paths.
	if filepath.IsAbs(state) {
		return state, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no place for the run's files: set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(home, ".local", "state"), nil
}

// Nest has this process, and those that it starts, keep their state in a directory of that name within the usual one. To do so again
// changes nothing.
func Nest(name string) error {
	state, err := home()
	if err != nil || filepath.Base(state) == name {
		return err
	}
	return os.Setenv("XDG_STATE_HOME", filepath.Join(state, name))
}

// elsewhere says how to have a state directory of one's own.
func elsewhere(err error) string {
	foreign, _ := errors.AsType[*fsys.ForeignError](err)
	switch {
	case foreign != nil && foreign.Write != 0:
		return "chmod go-w " + foreign.At + ", or set XDG_STATE_HOME to a directory that only you can write to"
	case os.Geteuid() == 0:
		return "run moon with root's own home (sudo -H moon …), or set XDG_STATE_HOME to a directory of root"
	}
	return "set HOME or XDG_STATE_HOME to a directory of your own"
}

// At is the state directory at a path that the caller has chosen.
func At(path string) Dir { return Dir{path} }

// Of returns the state directory that a run is kept in. dir is the directory of the run.
func Of(dir string) Dir { return Dir{filepath.Dir(rundir.Runs(dir))} }

// Runs holds a directory per run.
func (d Dir) Runs() string { return filepath.Join(d.path, "runs") }

// Sources holds what incremental steps were made from, per playbook.
func (d Dir) Sources() string { return filepath.Join(d.path, "sources") }

// Durations holds how long steps took in earlier runs, per playbook.
func (d Dir) Durations() string { return filepath.Join(d.path, "durations") }

// Exports holds what the last good run of each playbook has exported.
func (d Dir) Exports() string { return filepath.Join(d.path, "exports") }

// Resources holds what runs have created, per playbook.
func (d Dir) Resources() string { return filepath.Join(d.path, "state") }

// View is how the TUI of a playbook was left, in a directory that has those of all playbooks and nothing else.
func (d Dir) View(playbook string) string {
	sum := sha256.Sum256([]byte(playbook))
	return filepath.Join(d.path, "view", hex.EncodeToString(sum[:12])+".json")
}

// TrustedFiles is the list of plugins and files that the user trusts.
func (d Dir) TrustedFiles() string { return filepath.Join(d.path, "plugins", "trusted") }
