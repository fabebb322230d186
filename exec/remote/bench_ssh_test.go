package remote_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/remote"
	"moon/exec/remote/sshtest"
)

// BenchmarkHosts is what steps on other machines cost: 50 on each of 20 hosts, one after the other on each, and apart from that
// what the connections cost, once with and once without a copy of moon to bring.
func BenchmarkHosts(b *testing.B) {
	const hosts, steps = 20, 50
	servers := sshtest.Start(b, hosts)
	list := make([]exec.Host, hosts)
	for i, s := range servers {
		list[i] = s.Host
	}
	for _, name := range []string{"copies", "open"} {
		b.Run(name, func(b *testing.B) {
			if name == "open" {
				pool := &remote.Pool{Build: "test"}
				if failed := pool.Open(b.Context(), list); len(failed) > 0 {
					b.Fatal(failed)
				}
				pool.Close()
			}
			for b.Loop() {
				pool := &remote.Pool{Build: "test"}
				if failed := pool.Open(b.Context(), list); len(failed) > 0 {
					b.Fatal(failed)
				}
				b.StopTimer()
				pool.Close()
				if name == "copies" {
					for _, s := range servers {
						if err := os.RemoveAll(s.Home + "/.cache/moon"); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.StartTimer()
			}
		})
	}
	pool := &remote.Pool{Build: "test"}
	defer pool.Close()
	if failed := pool.Open(b.Context(), list); len(failed) > 0 {
		b.Fatal(failed)
	}
	for _, bb := range []struct {
		name, action string
		in           args
	}{
		{"command", "command", args{"argv": []any{"true"}}},
		{"shell", "shell", args{"cmd": "echo x"}},
		{"file", "file", args{"path": "/tmp", "state": "directory"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				var wg sync.WaitGroup
				for _, h := range list {
					job := newJob(b, "/", bb.action, bb.in)
					job.Become, job.Host, job.Roams = nil, &h, true
					wg.Go(func() {
						for range steps {
							if r := pool.Run(b.Context(), job); r.Outcome == events.Failed || r.Outcome == events.Unreachable {
								b.Error(r.Error)
								return
							}
						}
					})
				}
				wg.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*hosts*steps), "µs/step")
		})
	}
}

// BenchmarkLargeFile is what 64 MiB cost, without and with a line in between that takes its time.
func BenchmarkLargeFile(b *testing.B) {
	s := sshtest.Start(b, 1)[0]
	dir := b.TempDir()
	if err := os.WriteFile(dir+"/large", make([]byte, 64<<20), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, h := range map[string]exec.Host{"loopback": s.Host, "rtt50ms": s.Far(b, 50*time.Millisecond)} {
		b.Run(name, func(b *testing.B) {
			pool := &remote.Pool{Build: "test"}
			defer pool.Close()
			if failed := pool.Open(b.Context(), []exec.Host{h}); len(failed) > 0 {
				b.Fatal(failed)
			}
			for b.Loop() {
				job := newJob(b, "/", "copy", args{"src": dir + "/large", "dest": s.Home + "/large"})
				job.Become, job.Host, job.Roams = nil, &h, true
				if r := pool.Run(b.Context(), job); r.Outcome != events.Changed {
					b.Fatal(r.Error)
				}
				b.StopTimer()
				if err := os.Remove(s.Home + "/large"); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
