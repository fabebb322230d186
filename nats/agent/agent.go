package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"moon/nats/link"
	"moon/nats/session"
)

// Options are what an agent is.
type Options struct {
	Names []string      // of the hosts that it serves; one, other than in trials
	Log   io.Writer     // what it does, in lines
	Retry time.Duration // how long it waits before it tries again to connect; 0: 2 s
}

// Agent serves hosts.
type Agent struct {
	link *link.Link
	o    Options
	self notice
	dir  string // where programs start
	env  []string

	refused chan error // why it cannot be the agent of a name

	mu       sync.Mutex
	sessions map[string]*program // by session
	ended    bool                // no more sessions are taken
	all      sync.WaitGroup
}

// notice is what agents of one name say to each other.
type notice struct {
	ID    string      `json:"id"`
	Agent link.Holder `json:"agent"`
	Ready bool        `json:"ready"` // it takes sessions
}

// goesBefore reports whether the agent of a notice stays, and that of another ends. One that takes sessions stays; of two, as after a
// partition, the older does.
func (n notice) goesBefore(other notice) bool {
	if n.Ready != other.Ready {
		return n.Ready
	}
	if n.Ready && !n.Agent.Since.Equal(other.Agent.Since) {
		return n.Agent.Since.Before(other.Agent.Since)
	}
	return n.ID < other.ID
}

// An agent listens for others of its name before it takes sessions, and then says from time to time that it is there: a partition in which
// two could start may end without either noticing.
const (
	listening = time.Second
	sayEach   = 30 * time.Second
)

// Serve serves until ctx ends, and then ends what it has started. It tries for ever to connect, unless it is refused.
func Serve(ctx context.Context, by link.Options, o Options) error {
	if o.Retry == 0 {
		o.Retry = 2 * time.Second
	}
	a := &Agent{o: o, refused: make(chan error, 1), sessions: map[string]*program{}, self: notice{ID: rand.Text()}}
	a.dir, a.env = surroundings()
	if err := a.connect(ctx, by); err != nil || a.link == nil {
		return err
	}
	defer a.link.Close()
	defer a.endAll()
	a.self.Agent = a.link.Self("")
	if err := a.claimNames(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	if err := a.takeSessions(); err != nil {
		return err
	}
	a.logf("ready: %s at %s", strings.Join(shorten(o.Names), ", "), a.link.Conn.ConnectedUrlRedacted())
	say := time.NewTicker(sayEach)
	defer say.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-a.refused:
			return err
		case <-say.C:
			a.sayAll()
		}
	}
}

// connect connects, in the end. A server that does not want this user is not asked again.
func (a *Agent) connect(ctx context.Context, by link.Options) error {
	for said := false; ; said = true {
		var err error
		a.link, err = link.Connect(by, nats.IgnoreAuthErrorAbort(),
			nats.ReconnectHandler(func(*nats.Conn) { a.logf("connected again"); a.sayAll() }),
			nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
				if err != nil {
					a.logf("disconnected: %s", err)
				}
			}))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, nats.ErrAuthorization), errors.Is(err, os.ErrNotExist), !passes(err):
			return err
		case !said:
			a.logf("%s; trying again until it succeeds", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(a.o.Retry):
		}
	}
}

// passes reports whether a failure to connect may be another one, or none, in a while.
func passes(err error) bool {
	var network interface{ Timeout() bool } // as errors of package net have
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.As(err, &network)
}

// claimNames makes sure that no other agent has the names.
func (a *Agent) claimNames(ctx context.Context) error {
	for _, name := range a.o.Names {
		if _, err := a.link.Conn.Subscribe(link.ToAgent(name, "who"), func(m *nats.Msg) { a.hear(name, m.Data) }); err != nil {
			return err
		}
	}
	a.sayAll()
	if err := a.link.Conn.FlushTimeout(listening); err != nil && !errors.Is(err, nats.ErrTimeout) {
		return err
	}
	for end := time.After(listening); ; {
		select {
		case <-ctx.Done():
			return nil
		case err := <-a.refused:
			return err
		case <-time.After(listening / 10):
			for _, name := range a.o.Names {
				if a.link.Denied(link.ToAgent(name, "who")) || a.link.DeniedRead(link.ToAgent(name, "who")) {
					return fmt.Errorf("%s may not be the agent of %s: the servers do not permit it; see moon-nats config", a.link.User, name)
				}
			}
		case <-end:
			return nil
		}
	}
}

// sayAll tells other agents of the names that this one is there.
func (a *Agent) sayAll() {
	for _, name := range a.o.Names {
		a.say(name)
	}
}

func (a *Agent) say(name string) {
	a.mu.Lock()
	text, err := json.Marshal(a.self)
	a.mu.Unlock()
	if err == nil && a.link != nil {
		_ = a.link.Conn.Publish(link.ToAgent(name, "who"), text) // or the next time
	}
}

// hear acts on what another agent of the name says.
func (a *Agent) hear(name string, text []byte) {
	var other notice
	if err := json.Unmarshal(text, &other); err != nil || other.ID == a.self.ID {
		return
	}
	a.mu.Lock()
	self := a.self
	a.mu.Unlock()
	if self.goesBefore(other) {
		a.say(name)
		return
	}
	select {
	case a.refused <- fmt.Errorf("%s has an agent already: %s", name, other.Agent):
	default: // once is enough
	}
}

// takeSessions begins to open sessions.
func (a *Agent) takeSessions() error {
	for _, name := range a.o.Names {
		// In a queue: should there be two agents for a moment, no session is opened twice.
		_, err := a.link.Conn.QueueSubscribe(link.ToAgent(name, "open"), "agent", func(m *nats.Msg) {
			var r session.Request
			if err := json.Unmarshal(m.Data, &r); err != nil || len(r.Argv) == 0 || !link.IsWord(r.Session) {
				a.logf("%s: what came is not a request to open a session", name)
				return
			}
			a.open(name, r)
		})
		if err != nil {
			return err
		}
	}
	a.mu.Lock()
	a.self.Ready = true
	a.mu.Unlock()
	return a.link.Conn.FlushTimeout(listening * 5)
}

// open opens a session.
func (a *Agent) open(name string, r session.Request) {
	out := link.FromAgent(name, r.Session)
	p := session.NewPipe(func(frame []byte) error { return a.link.Conn.Publish(out, frame) })
	sub, err := a.link.Conn.Subscribe(link.ToAgent(name, r.Session), func(m *nats.Msg) { p.Take(m.Data) })
	if err != nil {
		p.Close()
		return
	}
	s := &program{pipe: p, argv: r.Argv, window: r.Window, dir: a.dir, env: a.env, stopped: make(chan struct{}), over: make(chan struct{})}
	a.mu.Lock()
	if a.ended || a.sessions[r.Session] != nil {
		a.mu.Unlock()
		p.Close()
		_ = sub.Unsubscribe() // the connection ends it, too
		return
	}
	a.sessions[r.Session] = s
	a.all.Add(1)
	a.mu.Unlock()
	p.Beat()
	a.logf("%s: session %s opened by %s", name, r.Session, r.By)
	go func() {
		defer a.all.Done()
		why := s.run()
		a.logf("%s: session %s ended: %s", name, r.Session, why)
		_ = sub.Unsubscribe()
		a.mu.Lock()
		delete(a.sessions, r.Session)
		a.mu.Unlock()
	}()
}

// endAll ends what was started, and returns when it has ended.
func (a *Agent) endAll() {
	a.mu.Lock()
	a.ended = true
	for _, s := range a.sessions {
		s.stop()
	}
	a.mu.Unlock()
	a.all.Wait()
}

func (a *Agent) logf(format string, args ...any) {
	fmt.Fprintf(a.o.Log, "moon-nats: "+format+"\n", args...)
}

// shorten is a list of names as far as people want to read it.
func shorten(names []string) []string {
	if len(names) <= 3 {
		return names
	}
	return []string{names[0], "…", names[len(names)-1]}
}
