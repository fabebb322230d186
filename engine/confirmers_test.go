package engine_test

import (
	"encoding/json"
	"net"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/engine"
	"moon/engine/control"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
)

// asOther has this binary send a line to a socket, as another user.
const asOther = "TEST_SEND_LINE"

func init() {
	line := os.Getenv(asOther)
	if line == "" {
		return
	}
	c, err := net.Dial("unix", os.Getenv("TEST_SOCKET"))
	if err != nil {
		os.Stdout.WriteString(err.Error())
		os.Exit(1)
	}
	_, _ = c.Write([]byte(line + "\n"))
	answer := make([]byte, 4096)
	n, _ := c.Read(answer)
	os.Stdout.Write(answer[:n])
	os.Exit(0)
}

// guardedRun is a run without a review that waits before a step for two people.
func guardedRun(t *testing.T, confirm string, edit func(*engine.Config)) (*engine.Session, *watch) {
	t.Helper()
	p, g := build(t, "- name: first\n  shell: a\n- name: drop\n  shell: b\n  confirm: "+confirm+"\n- name: last\n  shell: c\n")
	r := &fake{}
	c := engine.Config{Plan: p, Graph: g, Runner: r, Dry: r, Runs: t.TempDir(), Options: fact.Options{Forks: 1, OnFailure: fact.Drain}}
	if edit != nil {
		edit(&c)
	}
	s, err := engine.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Send(events.Order{Command: events.Stop{How: events.StopNow}}); _ = s.Wait() })
	w := watching(t, s, false)
	w.until("it waits", func() bool { return w.run.Phase == events.Paused })
	return s, w
}

// A client cannot say who it is: neither in the request, nor in the command that it carries, nor by saying that it relays for others.
func TestNoClientConfirmsAsAnother(t *testing.T) {
	s, w := guardedRun(t, `{by: 2, ask: "drop it?"}`, nil)
	ask := asker(t, s.Dir())
	if why := ask(control.Request{Do: "approve", Step: "drop"}); why != "" {
		t.Fatal(why)
	}
	already := control.Self() + " has confirmed it already; it needs 1 more person"
	lines := []string{
		`{"id":"f1","do":"approve","step":"drop","by":"bob","By":"bob","Relayed":true,"relayed":true}`,
		`{"id":"f2","do":"order","order":{"do":"approve","by":{"user":"bob"},"args":{"from":1,"to":2,"confirm":true}},"by":"bob"}`,
		`{"id":"f3","do":"order","order":{"do":"approve","actor":"bob (attach)","args":{"from":1,"to":2,"confirm":true}}}`,
	}
	c, err := net.Dial("unix", rundir.Socket(s.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answers := json.NewDecoder(c)
	for _, line := range lines {
		var a control.Answer
		if _, err := c.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		if err := answers.Decode(&a); err != nil || a.Accepted || a.Reason != already {
			t.Errorf("%s: %+v, %v", line, a, err)
		}
	}
	// What is not refused in words must not count either.
	for _, r := range []control.Request{{Do: "approve", Step: "all"}, {Do: "continue"}, {Do: "step"}} {
		ask(r)
	}
	s.Send(events.Order{Command: events.Approve{Range: events.Range{From: 1, To: 2}, Confirm: true}})
	s.Send(events.Order{Actor: "--approve", Command: events.Approve{Range: events.Range{From: 1, To: 2}, Confirm: true}})
	s.Send(events.Order{Command: events.Continue{}})
	time.Sleep(100 * time.Millisecond)
	if begun := strings.Count(readJournal(t, s), "attempt.started"); begun != 1 {
		t.Fatalf("%d steps have begun", begun)
	}
	// Who this process knows by other means counts, and is in the journal.
	if a, err := control.Relay(s.Dir(), control.Request{By: "bob", ID: "r", Do: "approve", Step: "drop"}); err != nil || !a.Accepted {
		t.Fatalf("%+v, %v", a, err)
	}
	w.done()
	for _, by := range []string{`"by":{"user":"bob"}`, `"by":{"user":"` + control.Self() + `","host":"`} {
		if journal := readJournal(t, s); !strings.Contains(journal, by) {
			t.Errorf("there is no %s in\n%s", by, journal)
		}
	}
}

func readJournal(t *testing.T, s *engine.Session) string {
	t.Helper()
	text, err := os.ReadFile(rundir.Journal(s.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// In a run that is attended by a relay alone, no one at this machine counts, and groups are those that the relay knows.
func TestOnlyRelayedConfirm(t *testing.T) {
	s, w := guardedRun(t, "{group: ops}", func(c *engine.Config) {
		c.RelayedOnly = true
		c.InGroup = func(user, group string) bool { return user == "ada" && group == "ops" }
	})
	if why := asker(t, s.Dir())(control.Request{Do: "approve", Step: "drop"}); !strings.Contains(why, "it is not known who confirms it") {
		t.Errorf("at the socket: %q", why)
	}
	for user, want := range map[string]string{"bob": "bob is not in the group ops", "": "it is not known who confirms it, and it needs 1 person of the group ops"} {
		if a, err := control.Relay(s.Dir(), control.Request{By: user, ID: "by" + user, Do: "approve", Step: "drop"}); err != nil || a.Reason != want {
			t.Errorf("%q: %+v, %v", user, a, err)
		}
	}
	if a, err := control.Relay(s.Dir(), control.Request{By: "ada", Claimed: true, ID: "c", Do: "approve", Step: "drop"}); err != nil || a.Accepted {
		t.Errorf("only claimed: %+v, %v", a, err)
	}
	if a, err := control.Relay(s.Dir(), control.Request{By: "ada", ID: "r", Do: "approve", Step: "drop"}); err != nil || !a.Accepted {
		t.Fatalf("%+v, %v", a, err)
	}
	w.done()
}

// Another user of the machine confirms what demands people, and can do nothing else. The kernel says who it is.
func TestOtherUserConfirms(t *testing.T) {
	other, err := user.Lookup("nobody")
	if err != nil || os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir, err := os.MkdirTemp("", "moon-test") //nolint:usetesting // another user cannot enter that of the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	bin := filepath.Join(dir, "test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := osexec.Command("cp", self, bin).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, w := guardedRun(t, "{by: 2}", nil)
	number := func(id string) uint32 {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(n)
	}
	send := func(line string) (a control.Answer) {
		t.Helper()
		c := osexec.Command(bin)
		c.Env = []string{asOther + "=" + line, "TEST_SOCKET=" + filepath.Join(dir, "moon-"+s.ID()+".sock")}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: number(other.Uid), Gid: number(other.Gid)}}
		out, err := c.CombinedOutput()
		if err != nil || json.Unmarshal(out, &a) != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
		return a
	}
	for _, line := range []string{
		`{"id":"1","do":"stop"}`, `{"id":"2","do":"approve","step":"all"}`, `{"id":"3","do":"approve","step":"last"}`, `{"id":"4","do":"set","step":"x=1"}`,
		`{"id":"5","do":"order","order":{"do":"approve","args":{"from":1,"to":2,"confirm":true}}}`,
	} {
		if a := send(line); a.Accepted || !strings.HasPrefix(a.Reason, "other users c") {
			t.Errorf("%s: %+v", line, a)
		}
	}
	if a := send(`{"id":"6","do":"approve","step":"drop","by":"root"}`); !a.Accepted {
		t.Fatalf("%+v", a)
	}
	if a := send(`{"id":"7","do":"approve","step":"drop"}`); !strings.HasPrefix(a.Reason, "nobody has confirmed it already") {
		t.Errorf("%+v", a)
	}
	if journal := readJournal(t, s); strings.Contains(journal, "command.rejected") {
		t.Errorf("another user has written into the journal:\n%s", journal)
	}
	if why := asker(t, s.Dir())(control.Request{ID: "6", Do: "approve", Step: "drop"}); why != "" { // an id that the other has used, too
		t.Fatal(why)
	}
	w.done()
	if err := s.Wait(); err != nil { // the end is published before all of it is put away
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "moon-*.sock")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
