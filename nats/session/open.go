package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"

	"moon/nats/link"
)

// Request asks the agent of a host to open a session to a program.
type Request struct {
	Session string   `json:"session"` // its id, a word that is never used again
	Argv    []string `json:"argv"`
	By      string   `json:"by"`               // for people
	Window  *Window  `json:"window,omitempty"` // the terminal that the program gets; nil: pipes
}

// Window is a terminal.
type Window struct {
	Term string `json:"term,omitempty"` // its kind, as in TERM
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// Call is what is to be run, and where.
type Call struct {
	Host   string
	Argv   []string
	Window *Window       // of the terminal that standard input is; nil: it is none
	Sizes  <-chan Window // of it, when they change
}

// Ending is how a program has ended.
type Ending struct {
	Code  int    `json:"code"`
	Error string `json:"error,omitempty"` // why the program did not run, or was ended
}

// Lost is the exit code where the session, and not the program, is what failed; ssh has the same.
const Lost = 255

// opening is how long an agent has to answer.
const opening = 10 * time.Second

// Run runs a program at the agent of a host, joined to the standard input and output of this process, and returns its exit code.
func Run(ctx context.Context, l *link.Link, call Call, in io.Reader, out, errs io.Writer) (code int, err error) {
	host, id := call.Host, rand.Text()
	there := link.ToAgent(host, id)
	p := NewPipe(func(frame []byte) error { return l.Conn.Publish(there, frame) })
	defer p.HangUp()
	absent := make(chan struct{}, 1)
	// The agent says all in one subject, which is also where a server says that no one listens.
	here := link.FromAgent(host, id)
	if _, err := l.Conn.Subscribe(here, func(m *nats.Msg) {
		if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
			absent <- struct{}{}
			return
		}
		p.Take(m.Data)
	}); err != nil {
		return Lost, err
	}
	text, err := json.Marshal(Request{Session: id, Argv: call.Argv, By: l.Self("").String(), Window: call.Window})
	if err != nil {
		return Lost, err
	}
	if err := l.Conn.PublishRequest(link.ToAgent(host, "open"), here, text); err != nil {
		return Lost, err
	}
	if err := awaitAgent(ctx, l, host, p, absent); err != nil {
		return Lost, err
	}
	go sendInput(p, in)
	go sendSizes(p, call.Sizes)
	stop := context.AfterFunc(ctx, p.HangUp)
	defer stop()
	for {
		item, err := p.Next()
		switch {
		case ctx.Err() != nil:
			return Lost, errors.New("the session was ended")
		case err != nil:
			return Lost, fmt.Errorf("%s: %w", host, err)
		}
		switch item.Kind {
		case Out:
			_, err = out.Write(item.Data)
		case Err:
			_, err = errs.Write(item.Data)
		case Exit:
			var e Ending
			if err := json.Unmarshal(item.Data, &e); err != nil {
				return Lost, fmt.Errorf("%s: %w", host, errBroken)
			}
			p.Beat() // the agent waits for it
			_ = l.Conn.FlushTimeout(opening)
			p.Close()
			if e.Error != "" {
				return e.Code, fmt.Errorf("%s: %s", host, e.Error)
			}
			return e.Code, nil
		default: // what only goes to the host
		}
		if err != nil {
			return Lost, err // who wanted the output has gone
		}
		p.Used(item)
	}
}

// awaitAgent waits until the agent has answered.
func awaitAgent(ctx context.Context, l *link.Link, host string, p *Pipe, absent <-chan struct{}) error {
	late := time.NewTimer(opening)
	defer late.Stop()
	look := time.NewTicker(50 * time.Millisecond) // a refusal of the server comes to the connection
	defer look.Stop()
	for {
		select {
		case <-p.First():
			return nil
		case <-absent:
			return fmt.Errorf("%s: connection refused: no agent of this name is connected; start `moon-nats agent --name %s` there", host, host)
		case <-look.C:
			if l.Denied(link.ToAgent(host, "open")) {
				return fmt.Errorf("%s: permission denied: the servers do not let %s open sessions", host, l.User)
			}
		case <-late.C:
			return fmt.Errorf("%s: connection timed out: its agent does not answer", host)
		case <-ctx.Done():
			return errors.New("the session was ended")
		}
	}
}

// sendInput sends what comes until its end.
func sendInput(p *Pipe, in io.Reader) {
	buf := make([]byte, Chunk)
	for {
		n, err := in.Read(buf)
		if n > 0 && p.Send(In, buf[:n]) != nil {
			return // the session has ended
		}
		if err != nil {
			_ = p.Send(InEnd, nil) // likewise
			return
		}
	}
}

// sendSizes sends the sizes of the terminal as they change.
func sendSizes(p *Pipe, sizes <-chan Window) {
	for {
		select {
		case <-p.Gone():
			return
		case size := <-sizes:
			if text, err := json.Marshal(size); err == nil {
				_ = p.Send(Size, text) // or the session has ended
			}
		}
	}
}
