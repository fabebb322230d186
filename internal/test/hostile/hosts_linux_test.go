package hostile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// hostileSSH is the name by which this binary is an ssh whose host does what it should not; hostileHow says what.
const (
	hostileSSH = "hostile-ssh"
	hostileHow = "TEST_HOSTILE_HOW"
	hostileDir = "TEST_HOSTILE_DIR" // for the home of the host
	agentLine  = "\nmoon agent\n"
)

func init() {
	fakes.Commands[hostileSSH] = func() {
		if pids, err := os.OpenFile(os.Getenv(hostileDir)+"/"+os.Getenv(hostileHow)+".pids", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(pids, os.Getpid())
			_ = pids.Close()
		}
		how := os.Getenv(hostileHow)
		for _, h := range hostileHosts {
			if h.name == how {
				os.Exit(h.be(&farSide{out: os.Stdout}))
			}
		}
		panic("no such host: " + how)
	}
}

// farSide is the end of the connection that moon does not trust.
type farSide struct {
	out io.Writer
	n   int // frames of the agent until now
}

func (s *farSide) say(text string) { _, _ = io.WriteString(s.out, text) } // whoever stops listening has ended

// frame is a head, with a length of its own, and a body.
func wireFrame(size uint32, kind byte, job uint32, body string) string {
	head := binary.BigEndian.AppendUint32(nil, size)
	head = append(head, kind)
	return string(binary.BigEndian.AppendUint32(head, job)) + body
}

// The kinds of frames, as they go over the wire.
const (
	wireHello, wireStdout, wireMoment, wireAsk, wireReply = 1, 6, 8, 9, 10
)

// honest has the command carried out, as a host does. What the agent says goes through change, frame by frame, if there is one.
func (s *farSide) honest(change func(kind byte, job uint32, body string) string) int {
	cmd := exec.Command("/bin/sh", "-c", os.Args[len(os.Args)-1])
	cmd.Env = append(os.Environ(), "HOME="+os.Getenv(hostileDir), "XDG_CACHE_HOME="+os.Getenv(hostileDir)+"/cache")
	cmd.Dir, cmd.Stdin, cmd.Stderr = os.Getenv(hostileDir), os.Stdin, os.Stderr
	if change == nil {
		cmd.Stdout = os.Stdout
		return fakes.ExitCode(cmd.Run())
	}
	from, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return 1
	}
	defer func() { _ = cmd.Process.Kill() }()
	r := bufio.NewReader(from)
	for line := ""; line != "moon agent\n"; {
		if line, err = r.ReadString('\n'); err != nil {
			return 1
		}
		s.say(line)
	}
	for {
		var head [9]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return fakes.ExitCode(cmd.Wait())
		}
		body := make([]byte, binary.BigEndian.Uint32(head[:4]))
		if _, err := io.ReadFull(r, body); err != nil {
			return 1
		}
		s.n++
		text := change(head[4], binary.BigEndian.Uint32(head[5:]), string(body))
		s.say(text)
		if text == "" {
			return 0 // it hangs up
		}
	}
}

// instead says something in place of each answer to a job.
func instead(say func(job uint32, body string) string) func(*farSide) int {
	return func(s *farSide) int {
		return s.honest(func(kind byte, job uint32, body string) string {
			if kind == wireReply {
				return say(job, body)
			}
			return wireFrame(uint32(len(body)), kind, job, body)
		})
	}
}

// says is a host that says something, and then hangs.
func says(text string) func(*farSide) int {
	return func(s *farSide) int {
		s.say(text)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
}

// repeats is a host that says something without end.
func repeats(first, text string) func(*farSide) int {
	return func(s *farSide) int {
		s.say(first)
		for {
			if _, err := io.WriteString(s.out, text); err != nil {
				return 0
			}
		}
	}
}

func leaves(text string, code int) func(*farSide) int {
	return func(s *farSide) int {
		s.say(text)
		return code
	}
}

// floods has the agent do the job, and says more than the agent does before each answer, for as long as anybody listens.
func floods(text func(job uint32) string) func(*farSide) int {
	return instead(func(job uint32, _ string) string {
		for {
			if _, err := io.WriteString(os.Stdout, text(job)); err != nil {
				return ""
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// hostileHosts are hosts that do not do what they should. The step may run on each of them once at most, whatever moon says of it then.
var hostileHosts = []struct {
	name string
	be   func(*farSide) int
	code int    // of moon
	says string // by moon
	slow bool   // moon has to wait for what may still come
}{
	{"honest", func(s *farSide) int { return s.honest(nil) }, 0, "changed=1", false},
	{"honest, by frames", instead(func(job uint32, body string) string { return wireFrame(uint32(len(body)), wireReply, job, body) }), 0, "changed=1", false},
	{"much login output", func(s *farSide) int { s.say(strings.Repeat("hello\n", 20_000) + "and more"); return s.honest(nil) }, 0, "changed=1", false},
	{"no line ends", func(s *farSide) int { s.say(strings.Repeat("hello ", 20_000)); return s.honest(nil) }, 0, "changed=1", false},
	{"lines without end", repeats("", "hello\n"), 1, "it did not answer in time", true},
	{"a line without end", repeats("", "hello "), 1, "it did not answer in time", true},
	{"silence", says(""), 1, "it did not answer in time", true},
	{"leaves at once", leaves("", 0), 1, "unreachable=1", false},
	{"leaves and fails", leaves("", 255), 1, "unreachable=1", false},
	{"leaves in the middle of a word", leaves("\nmoon ag", 0), 1, "unreachable=1", false},
	{"noise", func(s *farSide) int {
		r := rand.New(rand.NewPCG(1, 2))
		for range 1 << 17 {
			s.say(string(binary.BigEndian.AppendUint64(nil, r.Uint64())))
		}
		return 0
	}, 1, "unreachable=1", false},
	{"another agent", says(agentLine + wireFrame(9, wireHello, 0, "\xa1\x65Build\x61x")), 1, "unreachable=1", false},
	{"an agent without a word", says(agentLine), 1, "unreachable=1", true},
	{"an agent that leaves", leaves(agentLine, 0), 1, "unreachable=1", false},
	{"an agent that talks", says(agentLine + "Welcome to this machine!\n"), 1, "unreachable=1", false},
	{"an agent of 4 GiB", says(agentLine + "\xff\xff\xff\xff\x01\x00\x00\x00\x00"), 1, "unreachable=1", false},
	{"an agent of 64 MiB that does not come", says(agentLine + "\x04\x00\x00\x00\x01\x00\x00\x00\x00"), 1, "unreachable=1", true},
	{"frames before the first", repeats(agentLine, wireFrame(5, wireStdout, 7, "hello")), 1, "unreachable=1", false},
	{"wants copies without end", repeats("", "\nmoon copy Linux x86_64 gzip\n"), 1, "unreachable=1", true},
	{"wants a copy and leaves", leaves("\nmoon copy Linux x86_64 gzip\n", 0), 1, "unreachable=1", false},
	{"wants another copy", says("\nmoon copy Plan9 vax gzip\n"), 1, "plan9-vax", false},
	{"wants nonsense", says("\nmoon copy " + strings.Repeat("x ", 1000) + "\n"), 1, "unreachable=1", false},
	{"is unfit without end", repeats("", "\nmoon unfit bytes\n"), 1, "unreachable=1", true},
	{"an answer of 4 GiB", instead(func(job uint32, body string) string { return wireFrame(1<<32-1, wireReply, job, body) }), 1, "lost", false},
	{"an answer longer than it is", instead(func(job uint32, body string) string { return wireFrame(uint32(len(body))+1, wireReply, job, body) }), 1, "lost", false},
	{"an answer shorter than it is", instead(func(job uint32, body string) string { return wireFrame(uint32(len(body))-1, wireReply, job, body) }), 1, "lost", false},
	{"half an answer", instead(func(job uint32, body string) string {
		_, _ = io.WriteString(os.Stdout, wireFrame(uint32(len(body)), wireReply, job, body[:len(body)/2]))
		return ""
	}), 1, "lost", false},
	{"no answer", instead(func(uint32, string) string { return wireFrame(5, wireStdout, 1<<30, "hello") }), 1, "does not answer", true},
	{"leaves in place of an answer", instead(func(uint32, string) string { return "" }), 1, "lost", false},
	{"an answer to another request", instead(func(job uint32, body string) string { return wireFrame(uint32(len(body)), wireReply, job+1, body) }), 1, "does not answer", true},
	{"two answers", instead(func(job uint32, body string) string {
		return strings.Repeat(wireFrame(uint32(len(body)), wireReply, job, body), 2)
	}), 0, "changed=1", false},
	{"an empty answer", instead(func(job uint32, _ string) string { return wireFrame(0, wireReply, job, "") }), 1, "lost", false},
	{"an answer of noise", instead(func(job uint32, body string) string {
		return wireFrame(uint32(len(body)), wireReply, job, strings.Repeat("\xbf", len(body)))
	}), 1, "lost", false},
	{"an answer of another kind", instead(func(job uint32, body string) string { return wireFrame(uint32(len(body)), 0, job, body) }), 1, "lost", false},
	{"an answer of a kind that is none", instead(func(job uint32, body string) string { return wireFrame(uint32(len(body)), 99, job, body) }), 1, "lost", false},
	{"words in place of an answer", instead(func(uint32, string) string { return "Connection closed by foreign host.\n" }), 1, "lost", false},
	{"another hello", instead(func(job uint32, body string) string {
		return wireFrame(9, wireHello, job, "\xa1\x65Build\x61x") + wireFrame(uint32(len(body)), wireReply, job, body)
	}), 1, "lost", false},
	{"questions without end", floods(func(job uint32) string { return strings.Repeat(wireFrame(1, wireAsk, job, "\xa0"), 100) }), 1, "lost", false},
	{"output without end", floods(func(job uint32) string { return wireFrame(1<<12, wireStdout, job, strings.Repeat("y", 1<<12)) }), 1, "does not answer", true},
	{"output of others without end", floods(func(job uint32) string { return wireFrame(1<<12, wireStdout, job+9, strings.Repeat("y", 1<<12)) }), 1, "does not answer", true},
	{"moments without end", floods(func(job uint32) string { return wireFrame(1, wireMoment, job, "\x01") }), 1, "does not answer", true},
}

// TestHostileHosts runs a step on hosts that talk, hang, lie and leave: moon ends and says why, keeps little of it in memory, runs the step
// once at most, and leaves no connection behind.
func TestHostileHosts(t *testing.T) {
	ssh, err := exec.LookPath(hostileSSH)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for i, h := range hostileHosts {
		if !assault.All() && (h.slow || i%6 != 0) {
			continue
		}
		try := func(t *testing.T) {
			t.Helper()
			assault.Tried(t, "hostile hosts", 1)
			p := fakes.NewPatient(t, t.TempDir())
			files(map[string]string{
				"ansible.cfg": "[defaults]\ntimeout = 2\n",
				"hosts.ini":   "far ansible_ssh_executable=" + ssh + " ansible_host=127.0.0.1\n",
				"site.yml":    "- hosts: far\n  gather_facts: false\n  tasks:\n    - shell: echo step >>" + p.Dir + "/log\n      timeout: 8\n",
			})(t, p.Dir)
			moon := p.Command("run", "MOON_TRUST=true", hostileDir+"="+home, hostileHow+"="+h.name)
			moon.Args = []string{moon.Args[0], "run", "site.yml", "-i", "hosts.ini", "-o", "ansible"}
			moon.Dir = p.Dir
			var out bytes.Buffer
			moon.Stdout, moon.Stderr = &out, &out
			if err := moon.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(fakes.Patience, func() { _ = moon.Process.Kill() })
			defer timer.Stop()
			peak := fakes.PeakMemory(t, moon.Process.Pid)
			code := fakes.ExitCode(moon.Wait())
			said := out.String()
			if code != h.code || !strings.Contains(said, h.says) || strings.Contains(said, "goroutine ") || len(said) > 64<<10 && h.name != "output without end" {
				t.Errorf("exit %d and %d bytes, want %d and %q\n%.4000s", code, len(said), h.code, h.says, said)
			}
			if peak > 350<<10 && !fakes.Raced {
				t.Errorf("%d MB", peak>>10)
			}
			log, _ := os.ReadFile(filepath.Join(p.Dir, "log")) // it need not have come to that
			if n := strings.Count(string(log), "step\n"); n > 1 || code == 0 && n != 1 {
				t.Errorf("the step ran %d times\n%s", n, said)
			}
			pids, err := os.ReadFile(filepath.Join(home, h.name+".pids"))
			if err != nil {
				t.Fatal(err)
			}
			for n, pid := range strings.Fields(string(pids)) {
				name := filepath.Join(p.Dir, fmt.Sprint("pid", n))
				if err := os.WriteFile(name, []byte(pid), 0o600); err != nil {
					t.Fatal(err)
				}
				fakes.AwaitEnd(t, name)
			}
		}
		if i == 0 { // the others find moon there
			t.Run(h.name, try)
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			try(t)
		})
	}
}
