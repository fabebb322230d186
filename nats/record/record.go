package record

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"moon/engine/control"
	"moon/engine/journal"
	"moon/events"
	"moon/events/rundir"
	"moon/events/steplog"
	"moon/nats/link"
)

// maxPiece is how much one message carries, in bytes. Servers take a mebibyte unless they are told otherwise.
const maxPiece = 512 << 10

// outage is how long the stream may be gone before the run is brought to its end.
const outage = 30 * time.Second

// Recorder keeps the runs of this process in the stream. Its Watch is for journal.Disk.
type Recorder struct {
	// Begin is asked before a new run has a first record; its error keeps the run from beginning. It may be nil.
	Begin func(run string) error

	link   *link.Link
	writer string

	mu   sync.Mutex
	runs map[string]*run // by directory
}

// New records by way of a connection.
func New(l *link.Link) *Recorder {
	return &Recorder{link: l, writer: rand.Text(), runs: map[string]*run{}}
}

// run is a run of this process.
type run struct {
	id   string
	dir  string
	link *link.Link
	stop context.CancelFunc

	writing sync.Mutex // one message after the other; guards what follows
	writer  string
	number  int
	last    uint64       // of the last message of the journal in the stream
	pending bytes.Buffer // lines that are written and not synced yet
	sent    map[string]int64
	acks    []jetstream.PubAckFuture // of pieces that the stream has not said that it has
}

// FencedError says that another process has taken the run.
type FencedError struct{ Run string }

func (e *FencedError) Error() string {
	return "another process has taken run " + e.Run + "; nothing more is started here"
}

// Adopt says that a run which is about to continue here is in the stream, and what its last message is.
func (r *Recorder) Adopt(dir string, last uint64) {
	r.begin(dir, last)
}

func (r *Recorder) begin(dir string, last uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.runs[dir]; ok {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	at := &run{id: filepath.Base(dir), dir: dir, link: r.link, stop: stop, writer: r.writer, last: last, sent: map[string]int64{}}
	r.runs[dir] = at
	go at.renew(ctx)
	go at.followOutput(ctx)
	at.listen(ctx)
}

// Close ends what is left of the runs: the process is about to end.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.runs {
		at.end()
	}
}

// Watch is journal.Disk.Watch.
func (r *Recorder) Watch(op journal.Op) error {
	path := op.Path
	if op.Kind == journal.OpRename {
		path = op.To
	}
	dir, name, ours := r.locate(path)
	if !ours {
		return nil
	}
	if op.Kind == journal.OpCreate && name == journalName {
		if r.Begin != nil {
			if err := r.Begin(filepath.Base(dir)); err != nil {
				return err
			}
		}
		r.begin(dir, 0)
		return nil
	}
	r.mu.Lock()
	at := r.runs[dir]
	r.mu.Unlock()
	switch {
	case at == nil && name == journalName && op.Kind == journal.OpWrite:
		return fmt.Errorf("run %s is not in the stream; moon resume continues it", filepath.Base(dir))
	case at == nil:
		return nil
	case name == journalName && op.Kind == journal.OpWrite:
		at.writing.Lock()
		defer at.writing.Unlock()
		at.pending.Write(op.Data)
		return nil
	case name == journalName && op.Kind == journal.OpSync:
		return at.publish()
	case op.Kind == journal.OpRename, op.Kind == journal.OpSync && strings.HasPrefix(name, outputs):
		at.writing.Lock()
		defer at.writing.Unlock()
		return at.send(name)
	}
	return nil
}

// journalName is what the journal is called in the directory of a run.
var journalName = filepath.Base(rundir.Journal(""))

// outputs begins the names of files of output, in the directory of a run.
var outputs = filepath.Base(rundir.Output("")) + "/"

// locate finds the run that a file belongs to, and its name there.
func (r *Recorder) locate(path string) (dir, name string, ours bool) {
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	if link.IsID(filepath.Base(dir)) {
		return dir, base, true
	}
	kind := filepath.Base(dir)
	dir = filepath.Dir(dir)
	kept := kind == filepath.Base(rundir.Blobs("")) || kind == filepath.Base(rundir.Plans("")) || kind == filepath.Base(rundir.Output(""))
	if !kept || !link.IsID(filepath.Base(dir)) || strings.HasPrefix(base, ".new-") {
		return "", "", false
	}
	return dir, kind + "/" + base, true
}

// publish has the stream take the lines of the journal that are on the disk.
func (at *run) publish() error {
	at.writing.Lock()
	defer at.writing.Unlock()
	if at.pending.Len() == 0 {
		return nil
	}
	// Files first, in a stream that keeps the order: a record never names what no one else can read.
	if err := at.settle(); err != nil {
		return err
	}
	// What was printed is on its way before the record, and is not waited for: it would double what a step costs.
	over, err := at.sendPrinted(at.pending.Bytes())
	if err == nil && over {
		err = at.settle() // no one asks for it later
	}
	if err != nil {
		return err
	}
	for at.pending.Len() > 0 {
		piece := at.pending.Bytes()
		if len(piece) > maxPiece {
			piece = piece[:bytes.LastIndexByte(piece[:maxPiece], '\n')+1] // a line is far shorter
		}
		if err := at.append(piece); err != nil {
			return err
		}
		at.pending.Next(len(piece))
	}
	return nil
}

// sendPrinted sends what attempts have printed that end in some lines of the journal: who follows the run elsewhere has it before it is said
// that they have ended. over says that the run has, too. The caller holds writing.
func (at *run) sendPrinted(lines []byte) (over bool, err error) {
	for line := range bytes.Lines(lines) {
		if bytes.Contains(line, ended) { // the last words of all, also of those whose files another plan has named
			return true, at.sendOutput()
		}
		if !bytes.Contains(line, finished) {
			continue
		}
		_, text, _ := bytes.Cut(line, []byte(" ")) // behind the checksum
		var r struct {
			Kind string
			Data *struct{ Step, Attempt int }
		}
		// A record whose data is in a file names no step here, and a plan that has taken the place of another has other names for what its
		// steps print: that follows within outputEach.
		if err := json.Unmarshal(text, &r); err != nil || r.Kind != finishedKind || r.Data == nil {
			continue
		}
		prefix := fmt.Sprintf("%s.%d", events.StepID(r.Data.Step), r.Data.Attempt)
		for _, path := range steplog.Files(filepath.Base(rundir.Output("")), prefix) {
			if err := at.send(path); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// finishedKind is the kind of records that an attempt has ended.
const finishedKind = "attempt.finished"

var (
	finished = []byte(`"kind":"` + finishedKind + `"`)
	ended    = []byte(`"kind":"run.finished"`)
)

// append has the stream take one piece of the journal, at the place where the run expects it.
func (at *run) append(piece []byte) error {
	at.number++
	msg := &nats.Msg{Subject: link.Journal(at.id), Data: piece, Header: nats.Header{}}
	msg.Header.Set(link.Writer, at.writer)
	msg.Header.Set(link.Number, strconv.Itoa(at.number))
	deadline := time.Now().Add(outage)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		ack, err := at.link.JS.PublishMsg(ctx, msg,
			jetstream.WithExpectLastSequencePerSubject(at.last), jetstream.WithExpectStream(link.Stream))
		cancel()
		if err == nil {
			at.last = ack.Sequence
			return nil
		}
		// An acknowledgement may have been lost; then the message that stands in the way is this one.
		var refused *jetstream.APIError
		if errors.As(err, &refused) && isWrongSequence(refused) {
			own, seq, lerr := at.isLast()
			if own {
				at.last = seq
				return nil
			}
			if lerr == nil {
				return &FencedError{at.id}
			}
			err = lerr
		}
		if time.Now().After(deadline) || at.link.Conn.IsClosed() {
			return fmt.Errorf("the stream of the runs does not take what happens: %w", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func isWrongSequence(e *jetstream.APIError) bool {
	return e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}

// isLast reports whether the last message of the journal is the one that is being written.
func (at *run) isLast() (own bool, seq uint64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	last, err := at.link.Runs.GetLastMsgForSubject(ctx, link.Journal(at.id))
	if err != nil {
		return false, 0, err
	}
	own = last.Header.Get(link.Writer) == at.writer && last.Header.Get(link.Number) == strconv.Itoa(at.number)
	return own, last.Sequence, nil
}

// send has the stream take what a file has beyond what it took before. The caller holds writing.
func (at *run) send(name string) error {
	f, err := os.Open(filepath.Join(at.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is only read
	buf := make([]byte, maxPiece)
	for {
		n, err := f.ReadAt(buf, at.sent[name])
		if n > 0 {
			msg := &nats.Msg{Subject: link.File(at.id), Data: bytes.Clone(buf[:n]), Header: nats.Header{}}
			msg.Header.Set(link.Writer, at.writer)
			msg.Header.Set(link.Path, name)
			msg.Header.Set(link.Offset, strconv.FormatInt(at.sent[name], 10))
			ack, perr := at.link.JS.PublishMsgAsync(msg, jetstream.WithExpectStream(link.Stream))
			if perr != nil {
				return fmt.Errorf("the stream of the runs does not take %s: %w", name, perr)
			}
			at.acks = append(at.acks, ack)
			at.sent[name] += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if len(at.acks) > 64 {
			if err := at.settle(); err != nil {
				return err
			}
		}
	}
}

// settle waits until the stream has all pieces of files. One that was lost on the way is sent again, as whatever it is a part of is written
// at its offset. The caller holds writing.
func (at *run) settle() error {
	deadline := time.Now().Add(outage)
	for len(at.acks) > 0 {
		ack := at.acks[0]
		select {
		case <-ack.Ok():
			at.acks = at.acks[1:]
			continue
		case err := <-ack.Err():
			if time.Now().After(deadline) || at.link.Conn.IsClosed() {
				return fmt.Errorf("the stream of the runs does not take what a step printed or made: %w", err)
			}
			time.Sleep(100 * time.Millisecond)
		case <-time.After(time.Until(deadline)):
			return errors.New("the stream of the runs does not answer")
		}
		again, err := at.link.JS.PublishMsgAsync(ack.Msg(), jetstream.WithExpectStream(link.Stream))
		if err != nil {
			return fmt.Errorf("the stream of the runs does not take what a step printed or made: %w", err)
		}
		at.acks[0] = again
	}
	return nil
}

// outputEach is how often output is looked at that steps have written, for those who read it elsewhere.
const outputEach = 200 * time.Millisecond

// followOutput sends what steps print while they run.
func (at *run) followOutput(ctx context.Context) {
	tick := time.NewTicker(outputEach)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		at.writing.Lock()
		_ = at.sendOutput() // what could not be sent is sent again at the end of the step, where it counts
		at.writing.Unlock()
	}
}

// sendOutput sends what all steps have printed by now. The caller holds writing.
func (at *run) sendOutput() error {
	entries, err := os.ReadDir(rundir.Output(at.dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil // no step has begun
	}
	for _, e := range entries {
		name := outputs + e.Name()
		if info, ierr := e.Info(); ierr == nil && info.Mode().IsRegular() && info.Size() > at.sent[name] {
			err = errors.Join(err, at.send(name))
		}
	}
	return err
}

// renew says, again and again, that the run is in good hands.
func (at *run) renew(ctx context.Context) {
	text, err := json.Marshal(at.link.Self(at.writer))
	if err != nil {
		return
	}
	for {
		within, cancel := context.WithTimeout(ctx, at.link.LeaseFor/3)
		_, _ = at.link.Leases.Put(within, at.id, text) // the next time; without it, others take the run
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-time.After(at.link.LeaseFor / 4):
		}
	}
}

// listen takes requests to the run from other machines. They do not go by way of its socket, where no one can say that they speak for
// another.
func (at *run) listen(ctx context.Context) {
	sub, err := at.link.Conn.Subscribe(link.Control(at.id, "*"), func(m *nats.Msg) {
		go at.relay(m) // one that waits for the disk holds up no other
	})
	if err != nil {
		return // a run that cannot be reached is still a run
	}
	context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
}

// relay hands a request to the run and gives the answer back.
func (at *run) relay(m *nats.Msg) {
	var r control.Request
	a := control.Answer{Unrecorded: true}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		a.Reason = "not a request: " + err.Error()
	} else {
		// Who asks is what the servers let them write to, and not what they say.
		r.By = m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
		// Servers that ask no client who it is let each write to any subject.
		r.Claimed = !at.link.Conn.AuthRequired()
		a = at.ask(r)
	}
	text, err := json.Marshal(a)
	if err == nil {
		_ = m.Respond(text) // who asked may be gone
	}
}

func (at *run) ask(r control.Request) control.Answer {
	a, err := control.Relay(at.dir, r)
	if err != nil {
		return control.Answer{ID: r.ID, Reason: err.Error(), Unrecorded: true}
	}
	return a
}

// end leaves the run: it is over, or this process is.
func (at *run) end() {
	at.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	// Only one's own: another may have taken the run.
	if h, err := at.link.HolderOf(ctx, at.id); err == nil && h != nil && h.Writer == at.writer {
		_ = at.link.Leases.Delete(ctx, at.id) // it ends by itself
	}
}
