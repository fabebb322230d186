package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"moon/events/rundir"
)

// Request asks a run for something. The same ID twice asks once, and gets the same answer twice.
type Request struct {
	ID     string `json:"id"` // required
	Do     string `json:"do"` // required
	Step   string `json:"step,omitempty"`
	How    string `json:"how,omitempty"`
	Digest string `json:"digest,omitempty"` // of the plan that was looked at; another one refuses, but where Do is Order

	// By is who asks: the user at the other end of the socket, or whom this process relays it for. No client can say it.
	By      string `json:"-"`
	Relayed bool   `json:"-"` // this process relays it
	Claimed bool   `json:"-"` // By is what the other end says of itself

	Order json.RawMessage `json:"order,omitempty"` // an events.Order, where Do is Order: what it names by number is of the plan with Digest
}

// Order is the request of a screen, which sends the commands of the run itself.
const Order = "order"

// Answer says what became of a request.
type Answer struct {
	ID       string `json:"id"`
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"` // why not
	// Found is what is wrong with a playbook that was to be planned again.
	Found json.RawMessage `json:"found,omitempty"`
	// Unrecorded says that the journal does not have it: the run was not asked at all.
	Unrecorded bool `json:"unrecorded,omitempty"`
}

// Limits of what one connection, and all together, may take.
const (
	maxLine  = 256 << 10 // a command may carry a value
	maxConns = 16
	patience = 10 * time.Second       // for a request to come, and for an answer to be taken
	farewell = 250 * time.Millisecond // for the last answers, when the run has ended
)

// Server takes requests for one run.
type Server struct {
	path     string
	listener *net.UnixListener
	others   bool // it takes requests of other users, too
	handle   func(Request) Answer
	wg       sync.WaitGroup

	mu     sync.Mutex
	conns  map[*net.UnixConn]bool
	also   map[string]func(Request) Answer // what something other than the run answers, by Request.Do
	closed bool
	gone   chan struct{} // closed with it
}

// Listen makes the socket in a run's directory, in place of one that a dead process has left; only whoever runs the run
// may call it. handle is called from several goroutines; it may wait, but must return when the run has ended.
func Listen(dir string, handle func(Request) Answer) (*Server, error) {
	RemoveStale(os.TempDir())
	s := &Server{path: rundir.Socket(dir), handle: handle, conns: map[*net.UnixConn]bool{}, gone: make(chan struct{})}
	// The lock of the run is held, so a socket that is there belongs to no one alive.
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("make the control socket: %w", err)
	}
	addr, done, err := reach(dir)
	if err != nil {
		return nil, fmt.Errorf("make the control socket: %w", err)
	}
	defer done()
	if s.listener, err = net.ListenUnix("unix", addr); err != nil {
		return nil, fmt.Errorf("make the control socket: %w", err)
	}
	s.listener.SetUnlinkOnClose(false) // addr may be good for now only
	if err := os.Chmod(s.path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("make the control socket: %w", err), s.Close())
	}
	relays.Store(filepath.Clean(dir), s)
	s.wg.Go(s.accept)
	return s, nil
}

// ListenToOthers makes a socket for all users of this machine. What each of them may ask for is for handle to say, by Request.By.
func ListenToOthers(path string, handle func(Request) Answer) (*Server, error) {
	s := &Server{path: path, others: true, handle: handle, conns: map[*net.UnixConn]bool{}, gone: make(chan struct{})}
	if !tellsUsers {
		return nil, errors.New("this system does not say who is at the other end of a socket")
	}
	// Only what a process of this user has left is in the way; what is another's stays, and there is no socket.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("make the socket for other users: %w", err)
	}
	var err error
	if s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
		return nil, fmt.Errorf("make the socket for other users: %w", err)
	}
	s.listener.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o666); err != nil { // #nosec G302 -- the kernel says who connects
		return nil, errors.Join(fmt.Errorf("make the socket for other users: %w", err), s.Close())
	}
	s.wg.Go(s.accept)
	return s, nil
}

// relays are the runs of this process, by directory.
var relays sync.Map

// Relay hands a request with Request.By to a run that this process has. No other process can do that, and so say who asks.
func Relay(dir string, r Request) (Answer, error) {
	s, ok := relays.Load(filepath.Clean(dir))
	if !ok {
		return Answer{}, ErrNobody
	}
	r.Relayed = true
	a := s.(*Server).answer(r)
	a.ID = r.ID
	return a, nil
}

// Also has a request of a run that this process has be answered by something other than the run: what its screen does. Other users cannot ask
// for it. A run without a socket has no requests, so nothing is to be done.
func Also(dir, do string, handle func(Request) Answer) {
	v, ok := relays.Load(filepath.Clean(dir))
	if !ok {
		return
	}
	s := v.(*Server)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.also == nil {
		s.also = map[string]func(Request) Answer{}
	}
	s.also[do] = handle
}

// answer has a request answered by who answers such ones.
func (s *Server) answer(r Request) Answer {
	s.mu.Lock()
	also := s.also[r.Do]
	s.mu.Unlock()
	if also == nil {
		return s.handle(r)
	}
	// It may wait for the run, and the run, when it ends, for its answers.
	given := make(chan Answer, 1)
	go func() { given <- also(r) }()
	select {
	case a := <-given:
		return a
	case <-s.gone:
		return Answer{Reason: "the run has ended", Unrecorded: true}
	}
}

// Close removes the socket and returns when the answers that are on their way have been sent, or after a moment.
func (s *Server) Close() error {
	relays.CompareAndDelete(filepath.Dir(s.path), s)
	s.mu.Lock()
	if !s.closed {
		close(s.gone)
	}
	s.closed = true
	for c := range s.conns {
		// Clients that do not read must not hold up the end of the run.
		s.hurry(c)
	}
	s.mu.Unlock()
	err := s.listener.Close()
	if rerr := os.Remove(s.path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	s.wg.Wait()
	if err != nil {
		return fmt.Errorf("close the control socket: %w", err)
	}
	return nil
}

// hurry ends a connection after the answer it is at. The deadlines of a connection that is gone do not matter.
func (s *Server) hurry(c *net.UnixConn) {
	_ = c.SetReadDeadline(time.Now())
	_ = c.SetWriteDeadline(time.Now().Add(farewell))
}

func (s *Server) accept() {
	for {
		c, err := s.listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(100 * time.Millisecond) // no files left, or the like: it passes
		case s.enter(c):
			s.wg.Go(func() { s.serve(c) })
		default:
			_ = c.Close() // whoever it was sees that
		}
	}
}

// enter reports whether there is room for a connection, and whether it comes from a user who may ask.
func (s *Server) enter(c *net.UnixConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= maxConns || !s.others && !sameUser(c) {
		return false
	}
	s.conns[c] = true
	return true
}

// serve answers one request after the other. Every error ends the connection, and nothing else.
func (s *Server) serve(c *net.UnixConn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		_ = c.Close() // nothing depends on it
	}()
	by := peer(c)
	lines := bufio.NewReaderSize(c, maxLine)
	for {
		if !s.wait(c.SetReadDeadline) {
			return
		}
		line, err := lines.ReadSlice('\n')
		var r Request
		a := Answer{}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			a.Reason = fmt.Sprintf("a line may have %d bytes", maxLine)
		case err != nil:
			return
		default:
			if err := json.Unmarshal(line, &r); err != nil {
				a.Reason = "not a command: " + err.Error()
			} else {
				r.By = by
				a = s.answer(r)
				a.ID = r.ID
			}
		}
		text, err2 := json.Marshal(a)
		// The connection ends after this answer, as the rest of the line would be taken for a request.
		if err2 != nil || !s.wait(c.SetWriteDeadline) {
			return
		}
		if _, werr := c.Write(append(text, '\n')); werr != nil || err != nil {
			return
		}
	}
}

// wait gives the other end its time, unless the server is closing and has said how long it waits.
func (s *Server) wait(set func(time.Time) error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed || set(time.Now().Add(patience)) == nil
}

// ErrNobody says that no process takes commands for a run.
var ErrNobody = errors.New("no process takes commands for this run")

// Client sends requests to a live run.
type Client struct {
	conn    net.Conn
	answers *bufio.Reader
}

// Dial connects to the run in a directory. The error is ErrNobody where it does not live, or takes no commands.
func Dial(dir string) (*Client, error) {
	addr, done, err := reach(dir)
	if err != nil {
		return nil, fmt.Errorf("connect to the run: %w", err)
	}
	defer done()
	return dial(addr)
}

// DialSocket connects to the socket of another user's run.
func DialSocket(path string) (*Client, error) { return dial(&net.UnixAddr{Name: path, Net: "unix"}) }

func dial(addr *net.UnixAddr) (*Client, error) {
	c, err := net.DialUnix("unix", nil, addr)
	if refused(err) {
		return nil, ErrNobody
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the run: %w", err)
	}
	return &Client{c, bufio.NewReader(c)}, nil
}

// Send sends a request and waits for the answer.
func (c *Client) Send(r Request, wait time.Duration) (Answer, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return Answer{}, fmt.Errorf("send the command: %w", err)
	}
	if err := c.conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return Answer{}, fmt.Errorf("send the command: %w", err)
	}
	_, werr := c.conn.Write(append(text, '\n'))
	line, err := c.answers.ReadBytes('\n') // also after a write that failed: the answer may say why
	if err != nil {
		return Answer{}, fmt.Errorf("no answer from the run: %w", errors.Join(werr, err))
	}
	var a Answer
	if err := json.Unmarshal(line, &a); err != nil {
		return Answer{}, fmt.Errorf("read the answer of the run: %w", err)
	}
	return a, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
