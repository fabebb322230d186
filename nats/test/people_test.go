package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"moon/engine/control"
	"moon/nats/link"
)

// requestAs sends a request to a run as a user of the servers, in bytes as they are.
func requestAs(t *testing.T, address, user, subject, line string) (a control.Answer) {
	t.Helper()
	c, err := nats.Connect(address, nats.CustomInboxPrefix("_INBOX_"+user))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := c.Request(subject, []byte(line), 5*time.Second)
	if err != nil {
		return control.Answer{Reason: err.Error()}
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		t.Fatalf("%v: %s", err, m.Data)
	}
	return a
}

// TestPeopleConfirm has two steps that certain people confirm. They are those whom the servers know; no one confirms as another, the machine of
// the run confirms nothing, and one of two survives the process.
func TestPeopleConfirm(t *testing.T) {
	s, as := newGuardedSite(t)
	s.url = as("runner")
	groups := filepath.Join(s.dir, "groups")
	if err := os.WriteFile(groups, []byte("# who may restart\nops: eve, submitter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	play := s.playbook("- name: first\n  shell: echo first >> LOG\n- name: drop\n  shell: echo drop >> LOG\n  confirm: {by: 2}\n" +
		"- name: restart\n  shell: echo restart >> LOG\n  confirm: {group: ops}\n")
	if got := s.do("a", 2, "run", play); !strings.Contains(got, "run this step? (needs 2 people)") || len(s.log()) > 0 {
		t.Fatalf("without --approve:\n%s", got)
	}
	run, out := s.begin("a", "run", "--groups", groups, "--approve", "all", play)
	s.until("the first step", func() bool { return len(s.log()) == 1 })
	id := s.id()
	to := func(user string) string { return link.Control(id, user) }
	on := func(user string) *site { c := *s; c.url = as(user); return &c }
	ada := on("ada")
	if got := s.do("a", 2, "attach", id, "--send", "approve=drop"); !strings.Contains(got, "it is not known who confirms it") {
		t.Errorf("at the machine of the run:\n%s", got)
	}
	ada.do("ada", 0, "attach", "--send", "approve=drop")
	if got := ada.do("ada", 2, "attach", "--send", "approve=drop"); !strings.Contains(got, "ada has confirmed it already") {
		t.Errorf("twice:\n%s", got)
	}
	for i, line := range []string{
		`{"id":"f1","do":"approve","step":"drop","by":"bob","By":"bob","relayed":true,"Relayed":true,"Claimed":false}`,
		`{"id":"f2","do":"order","order":{"do":"approve","by":{"user":"bob","groups":["ops"]},"args":{"from":1,"to":2,"confirm":true}}}`,
	} {
		if a := requestAs(t, as("ada"), "ada", to("ada"), line); a.Accepted || !strings.Contains(a.Reason, "ada has confirmed it already") {
			t.Errorf("%d: %+v", i, a)
		}
		if a := requestAs(t, as("ada"), "ada", to("bob"), line); a.Accepted {
			t.Errorf("%d, to another subject: %+v", i, a)
		}
	}
	// Its process is killed, and another continues: who has confirmed has confirmed.
	_ = run.Process.Kill()
	_ = run.Wait()
	if got := s.log(); !slices.Equal(got, []string{"first"}) {
		t.Fatalf("one has confirmed, and the log is %v\n%s", got, out)
	}
	s.until("the lease is over", func() bool { return strings.Contains(s.try("b", "runs"), "its process is gone") })
	run, out = s.begin("b", "resume", id, "--no-tui", "--groups", groups)
	s.until("it is continued", func() bool { return strings.Contains(s.try("d", "runs"), "in progress") })
	s.until("another confirms", func() bool {
		return requestAs(t, as("submitter"), "submitter", to("submitter"), `{"id":"s1","do":"approve","step":"drop"}`).Accepted
	})
	s.until("the second step", func() bool { return len(s.log()) == 2 })
	if got := ada.do("ada", 2, "attach", "--send", "approve=restart"); !strings.Contains(got, "ada is not in the group ops") {
		t.Errorf("of no group:\n%s", got)
	}
	if a := requestAs(t, as("submitter"), "submitter", to("submitter"), `{"id":"s2","do":"approve","step":"restart"}`); !a.Accepted {
		t.Errorf("of the group: %+v", a)
	}
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := s.log(); !slices.Equal(got, []string{"first", "drop", "restart"}) {
		t.Errorf("the log is %v", got)
	}
	if j := s.journal("b"); !strings.Contains(j, `"by":{"user":"ada"}`) || !strings.Contains(j, `"by":{"user":"submitter","groups":["ops"]}`) {
		t.Errorf("the journal says\n%s", j)
	}
}

// Servers that ask no one who they are leave it open who confirms, so no one does.
func TestNoOneConfirmsWithoutUsers(t *testing.T) {
	s := newSite(t)
	run, out := s.begin("a", "run", "--approve", "all", s.playbook("- name: first\n  shell: echo first >> LOG\n- name: drop\n  shell: echo drop >> LOG\n  confirm: {by: 2}\n"))
	s.until("the first step", func() bool { return len(s.log()) == 1 })
	for _, user := range []string{"ada", "bob"} {
		a := requestAs(t, s.url, user, link.Control(s.id(), user), `{"id":"`+user+`","do":"approve","step":"drop"}`)
		if a.Accepted || !strings.Contains(a.Reason, "it is not known who confirms it") {
			t.Errorf("%s: %+v", user, a)
		}
	}
	_ = run.Process.Signal(os.Interrupt)
	_ = run.Wait()
	if got := s.log(); !slices.Equal(got, []string{"first"}) {
		t.Errorf("the log is %v\n%s", got, out)
	}
}
