package engine

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"moon/engine/control"
	"moon/engine/history"
	"moon/events/fact"
	"moon/events/rundir"
)

// lookAround is what a run asks of another that it has found: to look who else is there. Users cannot send it.
const lookAround = "look-around"

// lookedAround is what a run has found when it looked around.
type lookedAround struct{ runs []history.Concurrent }

func (lookedAround) input() {}

// meet warns of the runs that get in the way of this one, and has them warn of this one. It comes after listen: each of two runs that
// start at once writes its lock, listens, and then looks, so that whichever looks last finds the other and can reach it.
func (s *hearing) meet() {
	runs := s.lookAround()
	s.warnOf(runs)
	for _, c := range runs {
		notify(rundir.Of(rundir.Runs(s.dir), c.ID))
	}
}

func (s *hearing) lookAround() []history.Concurrent {
	return history.InProgress(rundir.Runs(s.dir), s.id, s.owner)
}

// warnOf warns of other runs, of each once.
func (s *hearing) warnOf(runs []history.Concurrent) {
	for _, c := range runs {
		if !s.met[c.ID] {
			s.met[c.ID] = true
			s.add(fact.Warned{Step: -1, Message: c.String()})
		}
	}
}

// notify asks a run to look around. One that does not answer, because it has just ended or was stopped, is not waited for: the run
// that was started has the warning in any case.
func notify(dir string) {
	client, err := control.Dial(dir)
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	var id [8]byte
	rand.Read(id[:])
	// The warning is a courtesy, so a run that is busy is not waited for.
	_, _ = client.Send(control.Request{ID: hex.EncodeToString(id[:]), Do: lookAround}, 250*time.Millisecond)
}
