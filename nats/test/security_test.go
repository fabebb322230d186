package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"moon/nats/link"
	"moon/nats/serve"
)

// newGuardedSite is a server with the configuration that moon-nats config prints. as gives the address of a user.
func newGuardedSite(t *testing.T) (s *site, as func(user string) string) {
	t.Helper()
	s = &site{t: t, dir: t.TempDir()}
	config := filepath.Join(s.dir, "nats.conf")
	if err := os.WriteFile(config, []byte(serve.Example), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Dir: filepath.Join(s.dir, "server"), Config: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Shutdown(); server.WaitForShutdown() })
	passwords := map[string]string{
		"runner": "change-me-1", "ada": "change-me-2", "watcher": "change-me-3", "submitter": "change-me-4", "web1": "change-me-5",
	}
	host := strings.TrimPrefix(server.ClientURL(), "nats://")
	return s, func(user string) string {
		if user == "" {
			return "nats://" + host
		}
		return "nats://" + user + ":" + passwords[user] + "@" + host
	}
}

// TestPermissions has users do what the configuration lets them, and try what it does not: to watch is not to decide, and nobody writes a
// journal, decides as another, or reads what others are answered, but who may.
func TestPermissions(t *testing.T) {
	s, as := newGuardedSite(t)
	s.url = as("runner")
	run, out := s.begin("a", "run", s.playbook(lines(3, "0.5")))
	s.until("the first step", func() bool { return len(s.log()) == 1 })
	on := func(user string) *site { c := *s; c.url = as(user); return &c }

	watcher, ada := on("watcher"), on("ada")
	if got := watcher.do("w", 0, "runs"); !strings.Contains(got, "runner on ") {
		t.Errorf("the watcher sees\n%s", got)
	}
	if got := watcher.do("w", 2, "attach", "--send", "pause"); !strings.Contains(got, "watcher may not do this") {
		t.Errorf("the watcher paused a run:\n%s", got)
	}
	ada.do("ada", 0, "attach", "--send", "pause", "--send", "skip=s02")
	ada.do("ada", 0, "attach", "--send", "continue")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := s.log(); !slices.Equal(got, []string{"s00", "s01"}) {
		t.Errorf("the log is %v", got)
	}
	if j := s.journal("a"); !strings.Contains(j, `"actor":"ada (attach)"`) {
		t.Errorf("ada decided, and the journal says\n%s", j)
	}
	if got := on("").try("x", "runs"); !strings.Contains(strings.ToLower(got), "authorization") {
		t.Errorf("without a name: %s", got)
	}
	id := s.id()
	for user, subjects := range map[string][]string{
		"watcher": {link.Control(id, "watcher"), link.Control(id, "ada"), link.Journal(id), link.File(id), "$KV.MOON_LEASES." + id},
		"ada":     {link.Control(id, "runner"), link.Journal(id), link.File(id), "$KV.MOON_LEASES." + id, "$JS.API.STREAM.PURGE.MOON_RUNS", "$JS.API.STREAM.DELETE.MOON_RUNS"},
	} {
		for _, subject := range subjects {
			if got := attempt(t, as(user), func(c *nats.Conn) { _ = c.Publish(subject, []byte("{}")) }); !strings.Contains(got, "permissions violation") {
				t.Errorf("%s may publish to %s: %s", user, subject, got)
			}
		}
	}
	for _, inbox := range []string{"_INBOX_runner.>", "_INBOX.>", ">", "moon.control.>"} {
		if got := attempt(t, as("ada"), func(c *nats.Conn) { _, _ = c.SubscribeSync(inbox) }); !strings.Contains(got, "permissions violation") {
			t.Errorf("ada may read %s: %s", inbox, got)
		}
	}
}

// attempt does something, and says what the server says to it.
func attempt(t *testing.T, address string, do func(*nats.Conn)) string {
	t.Helper()
	said := make(chan string, 10)
	c, err := nats.Connect(address, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { said <- strings.ToLower(err.Error()) }))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	do(c)
	_ = c.Flush()
	select {
	case why := <-said:
		return why
	case <-time.After(time.Second):
		return "nothing"
	}
}

// TestNoSecretsInTheStream runs a playbook with secrets, and looks for them in everything that the servers keep.
func TestNoSecretsInTheStream(t *testing.T) {
	s := newSite(t)
	p := s.playbook("- name: given\n  shell: echo {{ password }} | sha256sum > LOG; echo said {{ password }}\n  register: r\n- name: hidden\n  shell: echo tr0ub4dor\n  no_log: true\n  register: h\n" +
		"- name: used\n  shell: echo {{ r.stdout }} {{ h.stdout }} > /dev/null\n  no_log: true\n")
	if err := os.WriteFile(filepath.Join(s.dir, "vars.secret.yml"), []byte("password: correct-horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do("a", 0, "run", p, "-e", "@"+s.dir+"/vars.secret.yml")
	l, err := link.Dial(t.Context(), link.Options{URL: s.url})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.JS.OrderedConsumer(t.Context(), link.Stream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.FetchNoWait(1000)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for m := range batch.Messages() {
		n++
		for _, secret := range []string{"correct-horse", "tr0ub4dor"} {
			if strings.Contains(string(m.Data()), secret) {
				t.Errorf("%s has the secret %s:\n%s", m.Subject(), secret, m.Data())
			}
		}
	}
	if n < 5 {
		t.Errorf("the stream has %d messages", n)
	}
}
