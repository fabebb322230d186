package process

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
)

// TestGroupsAreNotForsaken makes the groups of runs while others tidy up without end: what is being made is no one's leftover.
func TestGroupsAreNotForsaken(t *testing.T) {
	own := ownCgroup()
	probe := filepath.Join(own, "probe-of-forsaken")
	if own == "" || os.Mkdir(probe, 0o755) != nil || os.Remove(probe) != nil {
		t.Skip("no control groups here")
	}
	var ended atomic.Bool
	done := make(chan bool)
	for range 3 {
		go func() {
			for !ended.Load() {
				removeForsaken(own)
			}
			done <- true
		}()
	}
	lost := 0
	for i := range 200 {
		run := "forsaken-" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(i)
		g := newCgroups(run)
		if g.dir == "" || !isAt(g.lock, g.dir) {
			lost++
			continue
		}
		removeTree(g.dir)
		_ = os.NewFile(uintptr(g.lock), g.dir).Close()
	}
	ended.Store(true)
	for range 3 {
		<-done
	}
	if lost > 0 {
		t.Errorf("%d of 200 runs have no groups", lost)
	}
}
