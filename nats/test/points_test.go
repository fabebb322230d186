package test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"moon/engine/journal"
	"moon/exec"
	"moon/exec/process"
	"moon/internal/app"
	"moon/internal/test/fakes"
	"moon/nats/command"
)

// dieAt names the point of its life at which moon-nats, as the tests run it, dies: before and after the stream has each change to the files of a
// run, and at each beginning and end of a process. At 0 it lives, and says at its end how many there were.
const dieAt = "TEST_DIE_AT"

// mortal is moon-nats, which dies when it is asked to.
func mortal(at int) int {
	var points atomic.Int64
	point := func() {
		if points.Add(1) == int64(at) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	command.Prepare = func(call *app.Invocation) {
		inStream := call.Session.Disk.Watch
		call.Session.Disk.Watch = func(op journal.Op) error {
			point()
			err := inStream(op)
			point()
			return err
		}
		call.Session.Runner = exec.Local{Watch: func(process.Moment) { point() }}
	}
	code := command.Main(os.Args[1:])
	if at == 0 {
		fmt.Fprintf(os.Stderr, "\npoints %d\n", points.Load())
	}
	return code
}

// mortalRun is the playbook that was made for this, in a directory of its own, on machines that share the server.
type mortalRun struct {
	site
	deaths int
}

func newMortalRun(t *testing.T, url string) *mortalRun {
	t.Helper()
	return &mortalRun{site: site{t: t, dir: t.TempDir(), url: url}}
}

// live runs the playbook on a machine, or continues it there, and dies at a point.
func (m *mortalRun) live(machine string, at int, args ...string) (ended bool, said string) {
	m.t.Helper()
	c := m.cmd(machine, append(args, "--approve", "all", "-e", "dir="+m.dir)...)
	c.Env = append(c.Env, fmt.Sprintf("%s=%d", dieAt, at))
	out, _ := c.CombinedOutput()
	if !c.ProcessState.Exited() {
		m.deaths++
		return false, string(out)
	}
	if code := c.ProcessState.ExitCode(); code != 0 && !strings.Contains(string(out), "there is nothing to resume") {
		m.t.Fatalf("exit code %d on machine %s of %v:\n%s", code, machine, args, out)
	}
	return true, string(out)
}

func (m *mortalRun) begin(at int) (ended bool, said string) {
	m.t.Helper()
	playbook, err := filepath.Abs("../../testdata/playbooks/kills/playbook.yml")
	if err != nil {
		m.t.Fatal(err)
	}
	link := filepath.Join(m.dir, "playbook.yml") // by whose directory the run is found again
	if err := os.WriteFile(link, readFile(m.t, playbook), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return m.live("a", at, "run", link)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// patient is the run as one of this machine, whose state is made from the stream alone.
func (m *mortalRun) patient() fakes.Patient {
	m.t.Helper()
	m.do("z", 0, "show", m.id())
	if err := os.MkdirAll(filepath.Join(m.dir, "state"), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(m.dir, "z/moon-nats/moon"), filepath.Join(m.dir, "state/moon")); err != nil {
		m.t.Fatal(err)
	}
	return fakes.Patient{T: m.t, Dir: m.dir, Made: "made"}
}

// TestDieAtEveryPoint lets the process of a run die before and after the stream has each of its changes, and another machine continue, which has
// nothing but the stream: the end is that of an unbroken run, and nothing ran twice that had ended. Then the same for the process that continues.
// `make kills-nats` takes every point.
func TestDieAtEveryPoint(t *testing.T) {
	s := newSite(t)
	whole := newMortalRun(t, s.url)
	_, said := whole.begin(0)
	_, text, _ := strings.Cut(said, "\npoints ")
	points, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || points < 250 {
		t.Fatalf("%d points, %v\n%s", points, err, said)
	}
	unbroken := whole.patient()
	stride, from := 1, 1
	if os.Getenv("POINTS") != "all" {
		stride = points/6 + 1
		from += rand.IntN(stride)
	}
	t.Logf("%d points, every %d from %d", points, stride, from)
	for _, second := range []bool{false, true} {
		for k := from; k <= points; k += stride {
			t.Run(fmt.Sprintf("%v/%d", second, k), func(t *testing.T) {
				m := newMortalRun(t, s.url)
				first := k
				if second {
					first = points / 3
				}
				ended, _ := m.begin(first)
				machines := []string{"b", "c", "d", "e"}
				for i := 0; !ended; i++ {
					at := -1
					if second && i == 0 {
						at = k
					}
					id := m.id()
					if id == "" { // the stream never knew of it, so nothing has run
						if log := m.log(); len(log) > 0 {
							t.Fatalf("there is no run, and it has done %v", log)
						}
						ended, _ = m.live(machines[i], at, "run", filepath.Join(m.dir, "playbook.yml"))
						continue
					}
					ended, _ = m.live(machines[i], at, "resume", id, "--no-tui", "--take", "--lost", "retry", "--retry-failed")
				}
				m.patient().Check(unbroken, max(m.deaths, 1))
			})
		}
	}
}
