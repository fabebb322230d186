package process

import (
	"context"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// ending is the end of moon itself: whatever runs for it is killed.
var ending = newLifetime()

type lifetime struct {
	ctx    context.Context // there is one for the life of the process
	cancel context.CancelFunc
	live   atomic.Int64 // processes that were begun, and have not been seen to end
	files  sync.Map     // by a number: how to remove what they need
}

func newLifetime() *lifetime {
	e := &lifetime{}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// beginProcess counts a process until the function it returns is called. Once moon ends that does not return: who waited for the process
// would say of its end what is not true.
func (e *lifetime) beginProcess() (ended func()) {
	e.live.Add(1)
	return func() {
		e.live.Add(-1)
		if e.ctx.Err() != nil {
			select {}
		}
	}
}

// EndAll kills every process that runs for moon, with what it has started, and waits until all have ended, but no longer than for a
// while. None begins any more. It is for a moon that is about to end.
func EndAll(patience time.Duration) {
	ending.cancel()
	for until := time.Now().Add(patience); ending.live.Load() > 0 && time.Now().Before(until); {
		time.Sleep(tick)
	}
	ending.files.Range(func(_, remove any) bool {
		remove.(func())()
		return true
	})
}

// RemoveAtEnd has a file that a process of moon needs removed also if moon ends before the process does: whoever would remove it then
// does not get to it, since EndAll lets nobody continue. The function that it returns removes it now.
func RemoveAtEnd(remove func()) (now func()) {
	key := marks.Add(1)
	ending.files.Store(key, remove)
	return func() {
		ending.files.Delete(key)
		remove()
	}
}

var marks atomic.Int64

// NewMark is a mark for the processes of something that is no attempt of a step.
func NewMark() string {
	return "moon-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-" +
		strconv.FormatInt(marks.Add(1), 10)
}
