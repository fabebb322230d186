package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"moon/exec"
	"moon/exec/process"
)

// call is a message to a plugin. Without ID it is a notification.
type call struct {
	Version string `json:"jsonrpc"`
	ID      *int   `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

func newCall(id int, method string, params any) call {
	return call{Version: "2.0", ID: &id, Method: method, Params: params}
}

// incoming is a message from a plugin: an answer, or news of a call.
type incoming struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// progress is news of a call.
type progress struct {
	ID     int     `json:"id"`
	Stream string  `json:"stream"`
	Data   string  `json:"data"`
	Pct    float64 `json:"pct"`
	Msg    string  `json:"msg"`
}

// peer is a plugin that lives as long as the run. Calls wait for each other unless it says that it takes several at once: what
// is not answered in time is ended with the program, and must not take others with it.
type peer struct {
	shown      string
	c          *exec.Companion
	done       func()        // removes the copy it runs from
	cleared    chan struct{} // closed when it has
	turn       chan struct{}
	concurrent bool
	patience   time.Duration
	stderr     process.Tail

	mu     sync.Mutex
	calls  map[int]*pending
	last   int
	broken error // why nothing it says counts any more
	killed bool
}

type pending struct {
	reply chan incoming // takes one
	news  func(progress)
	err   func([]byte) // what it writes to standard error meanwhile; may be nil
}

// usualPatience is how long a plugin has to answer when it was asked to stop, before it is ended.
const usualPatience = 5 * time.Second

// starting runs a plugin's program, with what it says going to two writers.
type starting func(stdout, stderr writer) *exec.Companion

type writer interface{ Write(p []byte) (int, error) }

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

func newPeer(shown string, patience time.Duration, start starting, done func()) *peer {
	p := &peer{
		shown: shown, done: done, patience: patience, turn: make(chan struct{}, 1), cleared: make(chan struct{}),
		calls: map[int]*pending{},
	}
	p.mu.Lock() // until it is known what could be ended, nothing is heard of it
	defer p.mu.Unlock()
	p.c = start(&byLine{take: p.takeLine}, writerFunc(p.takeStderr))
	go func() {
		defer close(p.cleared)
		<-p.c.Done()
		p.done()
	}()
	return p
}

// takeStderr takes what it writes to standard error: a part of the output of what it does just now, and kept for errors.
func (p *peer) takeStderr(text []byte) {
	_, _ = p.stderr.Write(text) // memory
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) != 1 {
		return // it may be of any of them
	}
	for _, c := range p.calls {
		if c.err != nil {
			c.err(text)
		}
	}
}

// takeLine is called with each line that it says.
func (p *peer) takeLine(line []byte) {
	var m incoming
	if err := json.Unmarshal(line, &m); err != nil || line[0] != '{' {
		p.giveUp(fmt.Errorf("the plugin %s wrote %s, which is not a message; write text for people to standard error", p.shown,
			quoteText(line)))
		return
	}
	if m.Method == "progress" {
		var news progress
		if json.Unmarshal(m.Params, &news) != nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if c := p.calls[news.ID]; c != nil && c.news != nil {
			c.news(news)
		}
		return
	}
	var id int
	if m.Method != "" || json.Unmarshal(m.ID, &id) != nil {
		return // for a later moon
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.calls[id]; c != nil {
		delete(p.calls, id)
		c.reply <- m
	}
}

// giveUp ends a plugin whose messages make no sense.
func (p *peer) giveUp(why error) {
	p.mu.Lock()
	if p.broken == nil {
		p.broken = why
	}
	c := p.c
	p.mu.Unlock()
	go c.Stop() // and not on the thread that reads from it
}

// isAlive reports whether calls can be made.
func (p *peer) isAlive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.c.Done():
		return false
	default:
		return p.broken == nil && !p.killed
	}
}

// errStopped says that a call was ended because its context was.
var errStopped = errors.New("stopped")

// callMethod makes a call and waits for the answer. now ends it at once.
func (p *peer) callMethod(ctx context.Context, now <-chan struct{}, method string, params any, c *pending) (json.RawMessage, error) {
	// One call at a time, unless it has said that it can do more.
	if !p.concurrent {
		select {
		case p.turn <- struct{}{}:
			defer func() { <-p.turn }()
		case <-p.c.Done():
			return nil, p.explainEnd()
		case <-ctx.Done():
			return nil, errStopped
		}
	}
	// Room for one: the answer may come when the caller waits no more.
	c.reply = make(chan incoming, 1)
	p.mu.Lock()
	p.last++
	id := p.last
	p.calls[id] = c
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.calls, id)
		p.mu.Unlock()
	}()
	text, err := encodeLine(newCall(id, method, params))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	go func() { _, _ = p.c.Write(text) }() // it may never read; that it has ended is seen below
	select {
	case m := <-c.reply:
		return resultOf(method, m)
	case <-p.c.Done():
		return p.lateAnswer(c, method)
	case <-now:
		p.killNow()
	case <-ctx.Done():
		p.cancelCall(id, c, now)
	}
	return nil, errStopped
}

// lateAnswer is what a plugin that has ended may still have said.
func (p *peer) lateAnswer(c *pending, method string) (json.RawMessage, error) {
	select {
	case m := <-c.reply:
		return resultOf(method, m)
	default:
		return nil, p.explainEnd()
	}
}

func resultOf(method string, m incoming) (json.RawMessage, error) {
	if m.Error != nil {
		return nil, fmt.Errorf("the plugin refuses %s: %s (%d)", method, m.Error.Message, m.Error.Code)
	}
	return m.Result, nil
}

// explainEnd says how it came to its end.
func (p *peer) explainEnd() error {
	p.mu.Lock()
	why := p.broken
	p.mu.Unlock()
	if why != nil {
		return wrapError(&p.stderr, why.Error())
	}
	return wrapError(&p.stderr, fmt.Sprintf("the plugin %s ended before it had answered: %s", p.shown, p.c.End()))
}

// cancelCall asks a plugin to end a call, and ends the plugin if it does not.
func (p *peer) cancelCall(id int, c *pending, now <-chan struct{}) {
	text, err := encodeLine(call{Version: "2.0", Method: "cancel", Params: map[string]any{"id": id}})
	if err == nil {
		go func() { _, _ = p.c.Write(text) }()
	}
	select {
	case <-c.reply: // it has ended it; what it says of that nobody asked for
		return
	case <-p.c.Done():
		return
	case <-now:
		p.killNow()
		return
	case <-time.After(p.patience):
	}
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	p.c.Stop()
	select {
	case <-p.c.Done():
	case <-now:
		p.killNow()
	}
}

// killNow ends it without grace, and waits until it has ended.
func (p *peer) killNow() {
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	p.c.Kill()
	<-p.c.Done()
}

// greetPlugin makes it known to a plugin who calls.
func (p *peer) greetPlugin(ctx context.Context, hello greeting) error {
	text, err := p.callMethod(ctx, nil, "initialize", hello, &pending{})
	if errors.Is(err, errStopped) {
		return fmt.Errorf("the plugin %s did not answer initialize in time", p.shown)
	}
	if err != nil {
		return err
	}
	var d Description
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("the plugin %s: %s", p.shown, jsonError(err))
	}
	if d.Protocol != Protocol {
		return fmt.Errorf("the plugin %s speaks protocol %d of plugins, and this moon speaks %d", p.shown, d.Protocol, Protocol)
	}
	p.concurrent = d.Concurrent
	return nil
}

// farewell is how long a plugin has to end when its input has.
const farewell = time.Second

// closeInput ends it when there is nothing more to do.
func (p *peer) closeInput() {
	_ = p.c.Close() // a pipe in memory
	select {
	case <-p.c.Done():
	case <-time.After(farewell):
		p.c.Stop()
	}
	<-p.cleared // or the copy that it ran from outlives this process
}
