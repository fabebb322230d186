package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"moon/engine/journal"
	"moon/events/rundir"
)

// Owner is the process that has a run, as it says of itself in the run's lock file.
type Owner struct {
	PID   int       `json:"pid"`
	User  string    `json:"user"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Target
}

// String is "process 12 of root on desk, since 2026-01-02 15:04:05".
func (o Owner) String() string {
	return fmt.Sprintf("process %d of %s on %s, since %s", o.PID, o.User, o.Host, o.Since.Local().Format(time.DateTime))
}

// Self is this process as an owner.
func Self() Owner {
	o := Owner{PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)}
	o.Host, _ = os.Hostname() // for people; a run without it is still a run
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	return o
}

// TakenError says who else has a run.
type TakenError struct {
	Owner Owner // zero if it does not say
}

func (e *TakenError) Error() string {
	if e.Owner.PID == 0 {
		return "another moon runs it"
	}
	return "another moon runs it: " + e.Owner.String()
}

// lockTries is how often, 10 ms apart, somebody is waited for who has the lock and does not say who it is: either it is
// about to, or it only looks whether the run is alive.
const lockTries = 100

// Lock takes a run for this process, for as long as it lives.
func Lock(dir string, me Owner) (*flock.Flock, error) {
	lock := flock.New(rundir.Lock(dir), flock.SetPermissions(0o600))
	// Those who only look hold the lock for a moment, so the first refusal may not mean a run.
	for try := 1; ; try++ {
		ok, err := journal.TryLock(lock.TryLock)
		if err != nil {
			return nil, fmt.Errorf("lock the run: %w", err)
		}
		if ok {
			if err := Sign(lock, me); err != nil {
				return nil, errors.Join(err, lock.Unlock())
			}
			return lock, nil
		}
		if owner := ownerOf(dir); owner.here(me) || try == lockTries {
			return nil, &TakenError{owner}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Sign writes into a lock who has it.
func Sign(lock *flock.Flock, me Owner) error {
	record, err := json.Marshal(me)
	if err == nil {
		err = os.WriteFile(lock.Path(), record, 0o600)
	}
	if err != nil {
		return fmt.Errorf("lock the run: %w", err)
	}
	return nil
}

// Unlock gives a run back. The file stays: who waits for it must wait for the same one.
func Unlock(lock *flock.Flock) error {
	return errors.Join(os.Truncate(lock.Path(), 0), journal.Uninterrupted(lock.Unlock))
}

// ownerOf reads who has, or had, a run; zero if that is unknown.
func ownerOf(dir string) Owner {
	var o Owner
	text, err := os.ReadFile(rundir.Lock(dir))
	if err != nil || json.Unmarshal(text, &o) != nil {
		return Owner{}
	}
	return o
}

// here reports whether an owner is known and can be there: what it says outlives it when it dies.
func (o Owner) here(me Owner) bool {
	if o.PID == 0 || o.Host == me.Host && errors.Is(syscall.Kill(o.PID, 0), syscall.ESRCH) {
		return false
	}
	return true
}
