package test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// kills is how many processes TestKills kills; `make kills-nats` asks for 300.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		return n
	}
	return 8
}

// cluster is three servers, each a process.
type cluster struct {
	s       *site
	listen  []string
	routes  []string
	servers []*exec.Cmd
	gone    [3]chan error
}

func newCluster(s *site) *cluster {
	c := &cluster{s: s, servers: make([]*exec.Cmd, 3)}
	for range 3 {
		c.listen, c.routes = append(c.listen, port(s.t)), append(c.routes, "nats://"+port(s.t))
	}
	for i := range 3 {
		c.start(i)
	}
	s.url = "nats://" + strings.Join(c.listen, ",nats://")
	s.env = append(s.env, "MOON_NATS_REPLICAS=3")
	s.until("the cluster", func() bool {
		out, err := s.cmd("a", "runs").CombinedOutput()
		return err == nil && len(out) == 0
	})
	return c
}

// start starts a server, and again if its port is not free yet.
func (c *cluster) start(i int) {
	c.s.t.Helper()
	var said *bytes.Buffer
	for range 5 {
		c.servers[i], said = c.s.begin("srv", "serve", "--listen", c.listen[i], "--dir", fmt.Sprintf("%s/server%d", c.s.dir, i), "--name", fmt.Sprint("n", i),
			"--cluster", strings.TrimPrefix(c.routes[i], "nats://"), "--routes", strings.Join(c.routes, ","))
		gone := make(chan error, 1)
		c.gone[i] = gone
		go func() { gone <- c.servers[i].Wait() }()
		for range 100 {
			if conn, err := net.DialTimeout("tcp", c.listen[i], time.Second); err == nil {
				_ = conn.Close()
				return
			}
			if len(gone) > 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	c.s.t.Fatalf("server %d does not start:\n%s", i, said)
}

// kill ends a server as a loss of power does.
func (c *cluster) kill(i int) {
	_ = c.servers[i].Process.Kill()
	<-c.gone[i]
}

// TestKills kills what runs a playbook, the servers that keep it, and in every second run the agent of the host on which its steps run, one at a
// time and at random, and has the run continue on one of three machines, until so many have been killed. Nothing may run that the stream does not
// know of, or twice without a decision.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("kills servers for a minute, and more; make kills-nats")
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("KILLS_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("KILLS_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	all := &site{t: t, dir: t.TempDir()}
	c := newCluster(all)
	for killed, runs := 0, 0; killed < kills() && !t.Failed(); runs++ {
		// The servers keep all runs; the machines and the log are those of one.
		s := &site{t: t, dir: t.TempDir(), url: all.url, env: all.env}
		host := ""
		if runs%2 == 1 {
			host = fmt.Sprintf("h%d", runs)
		}
		killed += max(killRun(t, s, c, random, host), 1)
		t.Logf("%d killed", killed)
	}
}

// killRun is one run to its end; it gives how many processes were killed. Its steps run on a host that calls home, if there is one.
func killRun(t *testing.T, s *site, c *cluster, random *rand.Rand, host string) (killed int) {
	t.Helper()
	const steps = 8
	machines := []string{"a", "b", "c"}
	wait := func(most time.Duration) { time.Sleep(time.Duration(random.Int64N(int64(most)))) }
	machine := machines[random.IntN(3)]
	// What ends by itself may have been told to, or lost its servers; what matters is the log, and the journal.
	first := []string{"run"}
	victims := 4 // three servers, and the run
	var agent *exec.Cmd
	if host == "" {
		first = append(first, s.playbook(lines(steps, "0.1")))
	} else {
		victims = 5
		agent, _ = s.agent("--name", host)
		defer func() { killAgent(agent) }()
		tasks := strings.ReplaceAll("\n"+lines(steps, "0.1"), "\n", "\n    ")
		first = append(first, "-i", s.inventory(host), s.playbook("- hosts: g\n  gather_facts: false\n  tasks:"+strings.TrimRight(tasks, " ")))
	}
	args := first
	for {
		run, out := s.begin(machine, args...)
		ended := make(chan error, 1)
		go func() { ended <- run.Wait() }()
		over := false
		for !over {
			victim := random.IntN(victims)
			select {
			case <-ended:
				over = true
				continue
			case <-time.After(time.Duration(random.Int64N(int64(900 * time.Millisecond)))):
			}
			switch {
			case victim == 4: // the step that runs there is lost, as with ssh
				killed++
				killAgent(agent)
				wait(300 * time.Millisecond)
				agent, _ = s.agent("--name", host)
			case victim == 3:
				killed++
				_ = run.Process.Kill()
				<-ended
				over = true
			case random.IntN(3) == 0: // a partition: it is there, and says nothing
				_ = c.servers[victim].Process.Signal(syscall.SIGSTOP)
				wait(time.Second)
				_ = c.servers[victim].Process.Signal(syscall.SIGCONT)
			default:
				killed++
				c.kill(victim)
				wait(300 * time.Millisecond)
				c.start(victim)
				wait(time.Second) // two of three have to be there, or nothing is taken
			}
		}
		if done(t, s) {
			break
		}
		if killed > 60 {
			t.Fatalf("it never ends; at last it said\n%s", out)
		}
		machine = machines[random.IntN(3)]
		args = []string{"resume", s.id(), "--no-tui", "--take", "--lost", "retry", "--retry-failed"}
		if !strings.Contains(runs(t, s), s.dir) {
			args = first // it was killed before the stream knew of it
		}
	}
	check(t, s, steps)
	return killed
}

// killAgent ends one as a loss of its host does.
func killAgent(agent *exec.Cmd) {
	_ = agent.Process.Kill()
	_ = agent.Wait()
}

// done reports whether the run has ended well, by what the stream says.
func done(t *testing.T, s *site) bool {
	t.Helper()
	return strings.Contains(runs(t, s), s.dir+"/playbook.yml  8/8  done")
}

// runs are those of the stream.
func runs(t *testing.T, s *site) string {
	t.Helper()
	var out []byte
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var err error
		if out, err = s.cmd("d", "runs").CombinedOutput(); err == nil {
			return string(out)
		}
	}
	t.Fatalf("the servers do not answer; at last:\n%s", out)
	return ""
}

// check compares the log of the steps with what the journal says of them.
func check(t *testing.T, s *site, steps int) {
	t.Helper()
	started, unreached := s.starts("d")
	journal := s.journal("d")
	for i := range steps {
		name := fmt.Sprintf("s%02d", i)
		ran := 0
		for _, line := range s.log() {
			if line == name {
				ran++
			}
		}
		// A step that was killed between its start and its first deed may have left no line; but what has left one was started.
		if ran == 0 || ran > started[name] {
			t.Errorf("%s ran %d times and was started %d times; the log is %v", name, ran, started[name], s.log())
		}
		// Where the host could not be reached nothing has begun, and --retry-failed has decided that it is tried again.
		again := strings.Count(journal, fmt.Sprintf(`{"step":%d,"as":"retry"}`, i))
		if begun := started[name] - unreached[name]; begun > 1+again {
			t.Errorf("%s was started %d times, and it was decided %d times that it runs again", name, begun, again)
		}
	}
	var first []string
	for _, line := range s.log() {
		if !slices.Contains(first, line) {
			first = append(first, line)
		}
	}
	if !slices.IsSorted(first) {
		t.Errorf("the steps are out of order: %v", s.log())
	}
}
