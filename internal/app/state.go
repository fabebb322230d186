package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"moon/engine/control"
	"moon/engine/history"
	"moon/engine/statefile"
	"moon/plan/prior"
)

// StateOf is the state of a playbook, which may be gone: only its directory is resolved, as planning does.
func StateOf(playbook string) (statefile.File, error) {
	path, err := filepath.Abs(playbook)
	if err != nil {
		return statefile.File{}, Usage("%s", err)
	}
	root := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	state, err := StateDir()
	if err != nil {
		return statefile.File{}, err
	}
	return statefile.Of(state.Resources(), root, filepath.Base(path)), nil
}

// ChangeState changes what is recorded of a playbook while no run of it may.
func ChangeState(call *Invocation, playbook string, change func(*prior.State) (prior.Record, string, error)) error {
	file, err := StateOf(playbook)
	if err != nil {
		return err
	}
	if err := noRunOf(playbook); err != nil {
		return err
	}
	said := ""
	err = file.Change(func(s *prior.State) (r prior.Record, err error) {
		r, said, err = change(s)
		r.Run, r.Time = "", time.Now().UTC()
		return r, err
	})
	if err != nil {
		return WrapDisk(err)
	}
	_, err = fmt.Fprintln(call.Out, said)
	return err
}

// noRunOf refuses what would get in the way of a run in progress.
func noRunOf(playbook string) error {
	live, err := LiveRunOf(playbook)
	if err == nil && live != nil {
		err = NewExit(ExitDisk, "run "+live.ID+" of this playbook is in progress ("+live.Owner.String()+"); nothing was changed")
	}
	return err
}

// LiveRunOf finds a run of a playbook that is in progress, on whatever hosts; nil: there is none.
func LiveRunOf(playbook string) (*history.Concurrent, error) {
	state, err := StateDir()
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(playbook)
	if err != nil {
		return nil, Usage("%s", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if live := history.Live(state.Runs(), path); len(live) > 0 {
		live[0].On = strings.Join(live[0].Owner.Hosts, ", ")
		return &live[0], nil
	}
	return nil, nil
}

// PastRuns is the latest runs, and how many more there are; all of them if limit is 0. What killed ones have left elsewhere goes.
func PastRuns(limit int) ([]history.Past, int, error) {
	state, err := StateDir()
	if err != nil {
		return nil, 0, err
	}
	control.RemoveStale(os.TempDir())
	list, more, err := history.List(state.Runs(), limit)
	return list, more, WrapDisk(err)
}
