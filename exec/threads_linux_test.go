package exec_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/process"
	"moon/exec/spec"
	"moon/internal/assault"
)

// TestThreadsStay lets threads end all the time while processes run: none is killed, because those that started them
// stay (go #27505). An assault starts 10,000.
func TestThreadsStay(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			done := make(chan struct{})
			go func() {
				runtime.LockOSThread() // and it ends with the goroutine
				time.Sleep(time.Millisecond)
				close(done)
			}()
			<-done
		}
	})
	defer process.EndRun("threads")
	action, _ := spec.Lookup("shell")
	decoded, ds := action.Decode(exectest.Args{"cmd": "sleep 0.02; echo done"})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	each := assault.Rounds(40, 1667)
	assault.Tried(t, "processes started while threads end", 6*each)
	var steps sync.WaitGroup
	for range 6 {
		steps.Go(func() {
			for range each {
				r := exec.Local{}.Run(ctx, &exec.Job{Action: "shell", Args: decoded, Cwd: "/", Output: steplog.NewDiscard(), Attempt: "threads/step-0001.1"})
				if r.Outcome != events.Changed {
					t.Errorf("%+v", r)
					return
				}
			}
		})
	}
	steps.Wait()
	cancel()
	group.Wait()
}
