package history

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"moon/engine/journal"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/plan"
)

// Target is what a run may change: a playbook on hosts. Two runs with one target in common get in each other's way.
type Target struct {
	Playbook string   `json:"playbook,omitempty"` // absolute, without links; "": the run changes nothing
	Hosts    []string `json:"hosts,omitempty"`    // sorted; localhost is that of the owner
}

// TargetOf is what a run of a plan may change. A dry run has no target.
func TargetOf(p *plan.Plan, o fact.Options) (t Target) {
	if o.Check {
		return t
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		host := s.Host
		if s.Delegate != "" {
			// The work of a task that is delegated here is not the same thing on two hosts, so it cannot clash.
			if host = s.Delegate; s.Conn == nil {
				continue // what plays do here for their hosts is different work for different hosts
			}
		}
		if host != "" && !s.Excluded && s.Prediction != plan.WillSkip {
			t.Hosts = append(t.Hosts, host)
		}
	}
	if len(t.Hosts) == 0 {
		return t
	}
	slices.Sort(t.Hosts)
	t.Hosts = slices.Compact(t.Hosts)
	// Sorted for the binary search of the other run.
	t.Playbook = filepath.Join(p.Root, p.RootFile)
	if real, err := filepath.EvalSymlinks(t.Playbook); err == nil {
		t.Playbook = real
	} else if p.RootFile == "-" {
		t.Playbook += " " + p.Digest // from standard input: the same text is the same playbook
	}
	return t
}

// shared names the hosts that two owners both may change; "" if there are none.
func (o Owner) shared(with Owner) string {
	if o.Playbook == "" || o.Playbook != with.Playbook {
		return ""
	}
	var both []string
	for _, host := range o.Hosts {
		if host == "localhost" && o.Host != with.Host { // a home that two machines share
			continue
		}
		if _, is := slices.BinarySearch(with.Hosts, host); is {
			both = append(both, host)
		}
	}
	const named = 5
	if more := len(both) - named; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(both[:named], ", "), more)
	}
	return strings.Join(both, ", ")
}

// Concurrent is another run in progress that may change what a run does.
type Concurrent struct {
	ID    string
	Owner Owner
	On    string // the hosts that both may change
}

// String says it to people.
func (c Concurrent) String() string {
	return fmt.Sprintf("run %s of this playbook is also in progress on %s (%s)", c.ID, c.On, c.Owner)
}

// InProgress finds the runs in progress next to the one with an id and an owner, the latest first. Whoever holds no lock any more, dead or
// done, is not one of them, whatever its lock file says. A run that cannot be looked at is not reported: this is a courtesy.
func InProgress(runs, id string, me Owner) (list []Concurrent) {
	if me.Playbook == "" {
		return nil
	}
	names, err := runNames(runs)
	if err != nil {
		return nil
	}
	for _, name := range names {
		dir := rundir.Of(runs, name)
		if name == id {
			continue
		}
		// The file of a run that has ended is empty, which is cheaper to see than whether its lock is free.
		// Dead runs keep their file; the lock itself is tried only for those that match.
		if info, err := os.Lstat(rundir.Lock(dir)); err != nil || info.Size() == 0 {
			continue
		}
		other := ownerOf(dir)
		if on := me.shared(other); on != "" && Taken(dir) {
			list = append(list, Concurrent{name, other, on})
		}
	}
	return list
}

// BusyError says that a run may not begin, because another one works on the same playbook and hosts.
type BusyError struct{ Concurrent }

func (e *BusyError) Error() string { return e.String() }

// Enter lets one run after the other look whether it may begin: from here until leave is called no other run begins, so that of two
// which start at once one finds the other. A run that changes nothing enters without looking.
func Enter(disk journal.Disk, runs, id string, me Owner) (leave func(), err error) {
	if me.Playbook == "" {
		return func() {}, nil
	}
	if err := disk.MkdirAll(runs); err != nil {
		return nil, fmt.Errorf("make the run directory: %w", err)
	}
	door := flock.New(filepath.Join(filepath.Dir(runs), "begin.lock"), flock.SetPermissions(0o600))
	if err := journal.Uninterrupted(door.Lock); err != nil {
		return nil, fmt.Errorf("lock the runs: %w", err)
	}
	leave = func() { _ = door.Unlock() } // the end of the process does it as well
	if list := InProgress(runs, id, me); len(list) > 0 {
		leave()
		return nil, &BusyError{list[0]}
	}
	return leave, nil
}

// Live are the runs in progress of a playbook, by its absolute path, that may change something. A dry run exports nothing and is
// not one.
func Live(runs, playbook string) (list []Concurrent) {
	names, err := runNames(runs)
	if err != nil {
		return nil // a courtesy, as above
	}
	if real, err := filepath.EvalSymlinks(playbook); err == nil {
		playbook = real
	}
	for _, name := range names {
		dir := rundir.Of(runs, name)
		if info, err := os.Lstat(rundir.Lock(dir)); err != nil || info.Size() == 0 {
			continue
		}
		if owner := ownerOf(dir); owner.Playbook == playbook && Taken(dir) {
			list = append(list, Concurrent{ID: name, Owner: owner})
		}
	}
	return list
}

// Concurrent are the runs in progress that may change what this one does. There are none if it is not in progress itself.
func (p Past) Concurrent() []Concurrent {
	if !p.Live {
		return nil
	}
	return InProgress(rundir.Runs(p.Dir), p.ID, p.Owner)
}
