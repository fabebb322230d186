package plugin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/plugin"
	"moon/exec/spec"
)

func TestLongLivedPlugins(t *testing.T) {
	needPython(t)
	for _, c := range []struct {
		name, body string
		outcome    events.Outcome
		err        string
		out        string
	}{
		{"ok", `    return {"status": "ok", "later": 1}`, events.OK, "", ""},
		{"progress", `    news(call, stream="stdout", data="half\n"); news(call, pct=70, msg="more"); news(99, data="of nobody")
    return {"status": "changed"}`, events.Changed, "", "half\n70% more\n"},
		{"unknown messages", `    say({"method": "log", "params": {}}); say({"id": 99, "result": {}}); say({"id": "x", "result": {}})
    return {"status": "ok"}`, events.OK, "", ""},
		{"refused", `    say({"id": call, "error": {"code": -3, "message": "not now"}})`, events.Failed, "refuses execute: not now (-3)", ""},
		{"no object", `    return [1]`, events.Failed, "not a JSON object", ""},
		{"a crash", `    sys.stderr.write("Traceback: boom\n"); sys.stderr.flush(); os._exit(3)`, events.Failed, "ended before it had answered: exit status 3\nTraceback: boom", ""},
		{"killed", `    os.kill(os.getpid(), 9)`, events.Failed, "killed by SIGKILL", ""},
		{"garbage", `    print("hello there", flush=True); time.sleep(1000)`, events.Failed, `wrote "hello there", which is not a message`, ""},
		{"a huge line", `    print("x" * 17000000, flush=True); time.sleep(1000)`, events.Failed, "which is not a message", ""},
		{"an answer and then the end", `    say({"id": call, "result": {"status": "changed"}}); os._exit(0)`, events.Changed, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := install(t, lines(c.body))
			if r.action.Plugin.Speaks != spec.SpeaksLines {
				t.Fatal("it was taken for one-shot")
			}
			got := r.run(t, nil)
			if got.Outcome != c.outcome || !strings.Contains(got.Error, c.err) || (c.err == "") != (got.Error == "") {
				t.Errorf("it ended as %s: %q", got.Outcome, got.Error)
			}
			if r.out.String() != c.out {
				t.Errorf("it printed %q, not %q", r.out.String(), c.out)
			}
		})
	}
}

// TestOneProcessForTheRun: calls of one run go to one process, and one that has gone is replaced.
func TestOneProcessForTheRun(t *testing.T) {
	needPython(t)
	r := install(t, lines(`    if params["task"]["args"].get("die"): os._exit(3)
    return {"status": "ok", "data": {"pid": os.getpid()}}`))
	first := r.run(t, nil).Fields["pid"]
	if second := r.run(t, nil).Fields["pid"]; first == nil || second != first {
		t.Errorf("pid %v, and then %v", first, second)
	}
	if got := r.run(t, map[string]any{"die": true}); got.Outcome != events.Failed {
		t.Errorf("%s", got.Outcome)
	}
	third := r.run(t, nil)
	if third.Outcome != events.OK || third.Fields["pid"] == first {
		t.Errorf("after the crash: %s %q, pid %v", third.Outcome, third.Error, third.Fields["pid"])
	}
}

// TestCopyEndsWithTheHost: a plugin that came over a connection runs from a copy, which is gone once the host is closed.
func TestCopyEndsWithTheHost(t *testing.T) {
	needPython(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for range 5 {
		r := install(t, lines(`    return {"status": "ok"}`))
		job := r.job(t, nil)
		job.From = fsys.OwnFiles{}
		if got := (exec.Local{Plugin: r.host.Run}).Run(t.Context(), job); got.Outcome != events.OK {
			t.Fatalf("%s %q", got.Outcome, got.Error)
		}
		copies := func() []string {
			list, err := filepath.Glob(filepath.Join(tmp, "moon-plugin-*"))
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		if len(copies()) != 1 {
			t.Errorf("while it lives: %v", copies())
		}
		if r.host.Close(); len(copies()) > 0 {
			t.Fatalf("%v is left", copies())
		}
	}
}

// TestCancelIsObeyed: a plugin that ends the call keeps its process.
func TestCancelIsObeyed(t *testing.T) {
	needPython(t)
	r := install(t, lines(`    if not params["task"]["args"].get("wait"): return {"status": "ok", "data": {"pid": os.getpid()}}
    news(call, data="begun")
    m = heard()
    assert m["method"] == "cancel" and m["params"]["id"] == call, m
    return {"status": "failed", "msg": "cancelled"}`))
	r.host.Patience = time.Minute // it is going to answer
	before := r.run(t, nil).Fields["pid"]
	job := r.job(t, map[string]any{"wait": true})
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		<-r.said
		cancel(fault.Interrupt)
	}()
	if got := r.local().Run(ctx, job); got.Outcome != events.Cancelled {
		t.Errorf("%s %q", got.Outcome, got.Error)
	}
	if after := r.run(t, nil).Fields["pid"]; before == nil || after != before {
		t.Errorf("pid %v, and then %v", before, after)
	}
}

// TestAHangingPluginIsEnded: one that does not answer is ended with all that it has started.
func TestAHangingPluginIsEnded(t *testing.T) {
	needPython(t)
	r := install(t, lines(`    import signal, subprocess
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "1000"])
    news(call, data=str(child.pid))
    time.sleep(1000)`))
	job := r.job(t, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	pid := ""
	go func() {
		pid = <-r.said
		cancel(fault.Expired)
	}()
	if got := r.local().Run(ctx, job); got.Outcome != events.Timeout {
		t.Errorf("%s %q", got.Outcome, got.Error)
	}
	// The kill has been sent; on a busy machine the child is still on its way out.
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("its child lives: %s", stat)
		}
	}
}

// TestNowEndsAtOnce: a second interrupt does not wait.
func TestNowEndsAtOnce(t *testing.T) {
	needPython(t)
	r := install(t, lines(`    news(call, data="begun")
    time.sleep(1000)`))
	r.host.Patience = 1 << 62
	job := r.job(t, nil)
	now := make(chan struct{})
	job.Now = now
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		<-r.said
		cancel(fault.Interrupt)
		close(now)
	}()
	if got := r.local().Run(ctx, job); got.Outcome != events.Cancelled {
		t.Errorf("%s %q", got.Outcome, got.Error)
	}
}

// TestConcurrentCalls: two calls that wait for each other end only if the plugin has both.
func TestConcurrentCalls(t *testing.T) {
	needPython(t)
	t.Setenv("CONCURRENT", "1")
	r := install(t, lines(`    def wait():
        both.wait()
        say({"id": call, "result": {"status": "ok"}})
    threading.Thread(target=wait, daemon=True).start()

both = threading.Barrier(2)`))
	var wg sync.WaitGroup
	for range 2 {
		job := r.job(t, nil)
		wg.Go(func() {
			if got := r.local().Run(context.Background(), job); got.Outcome != events.OK {
				t.Errorf("%s %q", got.Outcome, got.Error)
			}
		})
	}
	wg.Wait()
}

// TestCallsInARow: a plugin that does not say that it takes several at once gets one after the other.
func TestCallsInARow(t *testing.T) {
	needPython(t)
	r := install(t, lines(`    import select
    early = select.select([sys.stdin], [], [], 0.05)[0]
    return {"status": "failed", "msg": "two at once"} if early else {"status": "ok"}`))
	var wg sync.WaitGroup
	for range 3 {
		job := r.job(t, nil)
		wg.Go(func() {
			if got := r.local().Run(context.Background(), job); got.Outcome != events.OK {
				t.Errorf("%s %q", got.Outcome, got.Error)
			}
		})
	}
	wg.Wait()
}

func TestFactsOfAPlugin(t *testing.T) {
	needPython(t)
	r := install(t, lines(`    return {"status": "ok"}`))
	router := plugin.Route(r.registry)
	c, err := router.Find("facts.fake")
	if err != nil {
		t.Fatal(err)
	}
	// As a step it is one fact, which has the name of the plugin.
	if r.action, err = r.registry.Action("fake"); err != nil {
		t.Fatal(err)
	}
	got := r.run(t, nil)
	facts, _ := got.Values["fake"].(map[string]any)
	if got.Outcome != events.OK || facts["n"] != 1 || facts["host"] != "localhost" || len(got.Values) != 1 {
		t.Errorf("%s %q %v", got.Outcome, got.Error, got.Values)
	}
	if _, err := r.host.Inventory(context.Background(), c, "x", nil); err == nil {
		t.Error("facts were asked for an inventory")
	}
}
