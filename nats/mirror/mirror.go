package mirror

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"moon/engine/control"
	"moon/engine/history"
	"moon/events/rundir"
	"moon/nats/link"
)

// Mirror is a run of the stream on this machine.
type Mirror struct {
	link *link.Link
	id   string
	dir  string

	journal *os.File
	old     []byte // of the journal that was here before, as far as the stream has not said it again
	size    int64  // of what the stream has said
	seen    uint64 // the last message of the stream that was taken
	last    uint64 // of the last message of the journal
	writer  string // of that message
	former  map[string]bool
	files   map[string]*os.File
	sizes   map[string]int64 // of the other files, as far as the stream has them

	follow chan struct{} // closed when following has ended; nil: it is not followed
	stop   context.CancelFunc
}

// LiveError says that a process of this machine has the run.
type LiveError struct{ Run string }

func (e *LiveError) Error() string {
	return "run " + e.Run + " is one of this machine, and in progress"
}

// List is the ids of the runs that the stream has, the latest first.
func List(ctx context.Context, l *link.Link) ([]string, error) {
	var info *jetstream.StreamInfo
	err := link.Insist(ctx, answeredWithin, func(ctx context.Context) (err error) {
		info, err = l.Runs.Info(ctx, jetstream.WithSubjectFilter("moon.runs.*.journal"))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the runs of the stream: %w", err)
	}
	var ids []string
	for subject := range info.State.Subjects {
		if id := link.RunOf(subject); id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// Find is the id of the run whose id begins so; "" is the latest.
func Find(ctx context.Context, l *link.Link, prefix string) (string, error) {
	ids, err := List(ctx, l)
	if err != nil {
		return "", err
	}
	var found []string
	for _, id := range ids {
		if strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	switch {
	case len(ids) == 0:
		return "", errors.New("the stream has no runs yet")
	case len(found) == 0:
		return "", fmt.Errorf("the stream has no run %s; moon-nats runs lists them", prefix)
	case len(found) > 1 && prefix != "" && found[0] != prefix:
		return "", fmt.Errorf("%d runs begin with %s, such as %s and %s", len(found), prefix, found[0], found[1])
	}
	return found[0], nil
}

// Make writes what the stream has of a run, by now, into the directory of all runs.
func Make(ctx context.Context, l *link.Link, runs, id string) (_ *Mirror, err error) {
	if !link.IsID(id) {
		return nil, fmt.Errorf("%q is not the id of a run", id)
	}
	m := &Mirror{
		link: l, id: id, dir: rundir.Of(runs, id),
		former: map[string]bool{}, files: map[string]*os.File{}, sizes: map[string]int64{},
	}
	for _, dir := range []string{runs, m.dir, rundir.Output(m.dir), rundir.Blobs(m.dir), rundir.Plans(m.dir)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if history.Taken(m.dir) {
		return nil, &LiveError{id}
	}
	if m.journal, err = os.OpenFile(rundir.Journal(m.dir), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if m.old, err = os.ReadFile(m.journal.Name()); err != nil {
		return nil, err
	}
	if err := m.catchUp(ctx); err != nil {
		return nil, err
	}
	// Lines that were written here and not taken by the stream have not happened: nothing followed from them.
	if err := m.journal.Truncate(m.size); err != nil {
		return nil, err
	}
	return m, errors.Join(m.clean(), m.sync())
}

// catchUp reads everything that is there now; what comes meanwhile is for Follow. Only the leader of the servers knows how much that is:
// the one that is read from may have been away, and be behind.
func (m *Mirror) catchUp(ctx context.Context) error {
	var last *jetstream.RawStreamMsg
	err := link.Insist(ctx, answeredWithin, func(ctx context.Context) (err error) {
		last, err = m.link.Runs.GetLastMsgForSubject(ctx, link.Journal(m.id))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return fmt.Errorf("the stream has no run %s", m.id)
	}
	if err != nil {
		return fmt.Errorf("read run %s: %w", m.id, err)
	}
	ctx, cancel := context.WithTimeout(ctx, catchUpWithin)
	defer cancel()
	for m.last < last.Sequence {
		before := m.seen
		err := m.read(ctx, last.Sequence)
		if m.seen == before && m.last < last.Sequence {
			err = m.readEach(ctx, last.Sequence)
		}
		if err != nil && (m.seen == before || ctx.Err() != nil) {
			return fmt.Errorf("read run %s up to message %d of the stream, which gave it up to %d: %w", m.id, last.Sequence, m.seen, err)
		}
	}
	return nil
}

// readEach reads message by message from the leader. It is slow, and needs no reader that a server must know.
func (m *Mirror) readEach(ctx context.Context, until uint64) error {
	for m.seen < until {
		var msg *jetstream.RawStreamMsg
		err := link.Insist(ctx, answeredWithin, func(ctx context.Context) (err error) {
			msg, err = m.link.Runs.GetMsg(ctx, m.seen+1, jetstream.WithGetMsgSubject(link.All(m.id)))
			return err
		})
		if err != nil {
			return err
		}
		if err := m.take(msg.Subject, msg.Header, msg.Data, msg.Sequence); err != nil {
			return err
		}
		m.seen = msg.Sequence
	}
	return nil
}

// answeredWithin is how long the servers of a cluster may take to answer, while they agree on a leader.
const answeredWithin = 30 * time.Second

// catchUpWithin is how long it may take to read a run: the largest has some hundred megabytes.
const catchUpWithin = 2 * time.Minute

// clean removes values and plans that were written here and that the stream does not have: a run that writes one again finds it missing,
// and sends it. Output is left, as it may be all that there is of a step that was lost.
func (m *Mirror) clean() error {
	for _, dir := range []string{rundir.Blobs(m.dir), rundir.Plans(m.dir)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if _, has := m.sizes[filepath.Base(dir)+"/"+e.Name()]; !has {
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Last is the number of the last message of the journal, which the next one must name.
func (m *Mirror) Last() uint64 { return m.last }

// Dir is the directory of the run.
func (m *Mirror) Dir() string { return m.dir }

// read takes what the stream has up to a message, or, with 0, until ctx ends. It begins after what was taken before.
func (m *Mirror) read(ctx context.Context, until uint64) error {
	asking, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	c, err := m.link.JS.OrderedConsumer(asking, link.Stream, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{link.All(m.id)}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: m.seen + 1,
	})
	if err != nil {
		return fmt.Errorf("read run %s: %w", m.id, err)
	}
	if info := c.CachedInfo(); until > 0 && info != nil && info.NumPending == 0 {
		return nil // there is nothing, or not yet
	}
	list, err := c.Messages()
	if err != nil {
		return fmt.Errorf("read run %s: %w", m.id, err)
	}
	defer list.Stop()
	defer context.AfterFunc(ctx, list.Stop)()
	for {
		msg, err := list.Next(jetstream.NextMaxWait(silence))
		if errors.Is(err, nats.ErrTimeout) {
			// The server that is read from may have crashed with what it knew of this reader; then another one is begun.
			if until > 0 || m.isBehind(ctx) {
				return nil
			}
			continue
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("read run %s: %w", m.id, err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return fmt.Errorf("read run %s: %w", m.id, err)
		}
		if err := m.take(msg.Subject(), msg.Headers(), msg.Data(), meta.Sequence.Stream); err != nil {
			return err
		}
		m.seen = meta.Sequence.Stream
		if until > 0 && (meta.NumPending == 0 || meta.Sequence.Stream >= until) { // the last may be of another run
			return nil
		}
	}
}

// silence is how long a reader waits before it doubts that there is nothing to read.
const silence = 3 * time.Second

// isBehind reports whether the stream has more of the run than was read.
func (m *Mirror) isBehind(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	last, err := m.link.Runs.GetLastMsgForSubject(ctx, link.Journal(m.id))
	return err == nil && last.Sequence > m.seen
}

// take writes one message to the disk.
func (m *Mirror) take(subject string, h nats.Header, data []byte, seq uint64) error {
	writer := h.Get(link.Writer)
	if strings.HasSuffix(subject, ".journal") {
		if m.writer != "" && writer != m.writer {
			m.former[m.writer] = true
		}
		m.last, m.writer = seq, writer
		return m.takeLines(data)
	}
	if m.former[writer] {
		return nil
	}
	return m.takePiece(h.Get(link.Path), h.Get(link.Offset), data)
}

// takeLines writes a part of the journal, where it is not there already.
func (m *Mirror) takeLines(lines []byte) error {
	if rest, same := bytes.CutPrefix(m.old, lines); same {
		m.old = rest
		m.size += int64(len(lines))
		return nil
	}
	m.old = nil // from here on what was here is something else
	if _, err := m.journal.WriteAt(lines, m.size); err != nil {
		return err
	}
	m.size += int64(len(lines))
	return nil
}

// takePiece writes a part of another file. Its name comes from outside, and must not lead anywhere else.
func (m *Mirror) takePiece(name, offset string, data []byte) error {
	at, err := strconv.ParseInt(offset, 10, 64)
	kind, base, _ := strings.Cut(name, "/")
	kinds := []string{filepath.Base(rundir.Output("")), filepath.Base(rundir.Blobs("")), filepath.Base(rundir.Plans(""))}
	if err != nil || at < 0 || base == "" || !filepath.IsLocal(base) || filepath.Base(base) != base || !slices.Contains(kinds, kind) {
		return fmt.Errorf("run %s: the stream names a file %q at %q, which no run has", m.id, name, offset)
	}
	f := m.files[name]
	if f == nil {
		if len(m.files) > 200 {
			m.closeFiles()
		}
		if f, err = os.OpenFile(filepath.Join(m.dir, name), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
			return err
		}
		m.files[name] = f
	}
	if _, err = f.WriteAt(data, at); err != nil {
		return err
	}
	m.sizes[name] = max(m.sizes[name], at+int64(len(data)))
	return nil
}

// sync makes what was written certain to stay.
func (m *Mirror) sync() error {
	var errs []error
	for _, f := range m.files {
		errs = append(errs, f.Sync())
	}
	return errors.Join(append(errs, m.journal.Sync())...)
}

func (m *Mirror) closeFiles() {
	for name, f := range m.files {
		_ = f.Close() // it is made from the stream again where that failed
		delete(m.files, name)
	}
}

func (m *Mirror) close() {
	m.closeFiles()
	_ = m.journal.Close() // as above
}

// Follow keeps the run as it continues elsewhere, until the process that has it is gone, the run has ended, or Close. It takes the lock
// and the socket of the run in place of that process.
func (m *Mirror) Follow(ctx context.Context, by link.Holder) error {
	lock, err := history.Lock(m.dir, history.Owner{PID: by.PID, User: by.User, Host: by.Host, Since: by.Since})
	if err != nil {
		return err
	}
	server, err := control.Listen(m.dir, m.relay)
	if err != nil {
		return errors.Join(err, history.Unlock(lock))
	}
	ctx, m.stop = context.WithCancel(ctx)
	m.follow = make(chan struct{})
	go func() {
		defer close(m.follow)
		var wg sync.WaitGroup
		wg.Go(func() { m.awaitEnd(ctx) })
		for ctx.Err() == nil {
			if err := m.read(ctx, 0); err != nil && ctx.Err() == nil {
				time.Sleep(200 * time.Millisecond) // the servers are gone, and may come back
			}
		}
		wg.Wait()
		_ = m.sync()       // it is made again from the stream
		_ = server.Close() // it answers no more
		m.release(lock)
	}()
	return nil
}

func (m *Mirror) release(lock *flock.Flock) {
	_ = history.Unlock(lock) // the file is closed with the process at the latest
}

// awaitEnd ends following when the run has ended, or when no process has it any more.
func (m *Mirror) awaitEnd(ctx context.Context) {
	defer m.stop()
	missing := 0
	for missing < 2 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(m.link.LeaseFor / 10):
		}
		h, err := m.link.HolderOf(ctx, m.id)
		switch {
		case err != nil: // the servers do not answer: that says nothing of the run
		case h == nil:
			missing++ // what it wrote last is on its way
		default:
			missing = 0
		}
	}
}

// Close ends following, and gives the run back.
func (m *Mirror) Close() {
	if m.follow != nil {
		m.stop()
		<-m.follow
		m.follow = nil
	}
	m.close()
}

// relay takes a request to the process that has the run.
func (m *Mirror) relay(r control.Request) control.Answer {
	refused := control.Answer{ID: r.ID, Unrecorded: true}
	text, err := json.Marshal(r)
	if err != nil {
		refused.Reason = err.Error()
		return refused
	}
	reply, err := m.link.Ask(link.Control(m.id, m.link.User), text, 50*time.Second)
	var a control.Answer
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		refused.Reason = "no process has the run any more"
		return refused
	case err != nil:
		refused.Reason = "the run was not reached: " + err.Error()
		return refused
	}
	if err := json.Unmarshal(reply, &a); err != nil {
		refused.Reason = "the answer of the run cannot be read: " + err.Error()
		return refused
	}
	return a
}
