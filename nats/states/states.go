package states

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"moon/engine/statefile"
	"moon/nats/link"
	"moon/plan/prior"
)

// Log is the stream, as statefile uses it.
type Log struct {
	dial   func() (*link.Link, error)
	writer string
	Taken  func() // called after the stream has taken records, before anything else happens. Tests crash there; it may be nil

	mu     sync.Mutex
	link   *link.Link
	stream jetstream.Stream
	number int // of messages that were written
}

// New is a log that connects when it is first used.
func New(dial func() (*link.Link, error)) *Log { return &Log{dial: dial, writer: rand.Text()} }

// Use has it use a connection that there is already.
func (l *Log) Use(c *link.Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link = c
}

// The headers of messages, next to those of package link.
const (
	userIn    = "Moon-User"    // who wrote it
	machineIn = "Moon-Machine" // and where
	codingIn  = "Moon-Coding"  // gzip, or nothing
)

// bigger is the size from which records are compressed: a message may have a mebibyte.
const bigger = 64 << 10

// answeredWithin is how long the servers may take, among them those of a cluster that agree on a leader.
const answeredWithin = 20 * time.Second

// ask asks the servers something about the states.
func (l *Log) ask(subject string, do func(context.Context) error) error {
	err := link.Insist(context.Background(), answeredWithin, func(ctx context.Context) error {
		err := do(ctx)
		if err != nil && subject != "" && l.link.Denied(subject) {
			return &link.DeniedError{User: l.link.User}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("what runs have made on hosts is kept in the stream %s: %w", link.States, err)
	}
	return nil
}

// open finds the stream. Who only reads makes none.
func (l *Log) open(create bool) (err error) {
	if l.link == nil {
		if l.link, err = l.dial(); err != nil {
			return fmt.Errorf("read what runs have made on hosts: %w", err)
		}
	}
	if l.stream != nil {
		return nil
	}
	return l.ask("$JS.API.STREAM.INFO."+link.States, func(ctx context.Context) error {
		stream, err := l.link.JS.Stream(ctx, link.States)
		if errors.Is(err, jetstream.ErrStreamNotFound) && create {
			stream, err = l.link.JS.CreateStream(ctx, jetstream.StreamConfig{
				Name: link.States, Subjects: []string{"moon.states.>"}, Storage: jetstream.FileStorage, Replicas: max(l.link.Copies, 1),
				Discard: jetstream.DiscardNew, DenyDelete: true, AllowRollup: true, // the whole state of a host takes the place of its records
			})
			if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another moon was faster
				stream, err = l.link.JS.Stream(ctx, link.States)
			}
		}
		if err == nil {
			l.stream = stream
		}
		return err
	})
}

// Fetch is statefile.Log.Fetch.
func (l *Log) Fetch(playbook, log string, after uint64) (records []prior.Record, last uint64, err error) {
	name, err := l.name()
	if err != nil || log != "" && log != name {
		return nil, 0, err
	}
	last, err = l.read(playbook, after, func(m *nats.Msg, seq uint64, _ time.Time) error {
		list, err := decode(m)
		for i := range list {
			list[i].Seq, list[i].Log = seq, name
		}
		records = append(records, list...)
		return err
	})
	return records, last, err
}

// name tells the stream from one that was made in its place; "": there is none.
func (l *Log) name() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.open(false)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(l.stream.CachedInfo().Created.Unix(), 36), nil
}

// Entry is what one message says.
type Entry struct {
	At            time.Time
	Host          string // that it is about
	User, Machine string // who has written it
	Records       []prior.Record
}

// History gives what the stream has of a playbook, the oldest first.
func (l *Log) History(playbook string) (list []Entry, err error) {
	_, err = l.read(playbook, 0, func(m *nats.Msg, _ uint64, at time.Time) error {
		records, err := decode(m)
		e := Entry{At: at, User: m.Header.Get(userIn), Machine: m.Header.Get(machineIn), Records: records}
		for i := range records {
			e.Host = records[i].Part
			if hosts := records[i].Hosts(); len(hosts) > 0 {
				e.Host = hosts[0]
			}
		}
		list = append(list, e)
		return err
	})
	return list, err
}

// read takes what there is of a playbook by now, after a place, and gives the last one. How much that is only the leader of the servers knows.
func (l *Log) read(playbook string, after uint64, take func(*nats.Msg, uint64, time.Time) error) (last uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.open(false)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var end *jetstream.RawStreamMsg
	err = l.ask("$JS.API.STREAM.MSG.GET."+link.States, func(ctx context.Context) (err error) {
		end, err = l.stream.GetLastMsgForSubject(ctx, link.StatesOf(playbook))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for at := after; at < end.Sequence; {
		at, err = l.stretch(playbook, at, end.Sequence, take)
		if err != nil {
			return 0, err
		}
		if at >= end.Sequence {
			break
		}
		// A reader may be lost together with its server. One message is asked of the leader, and then there is a new reader.
		var one *jetstream.RawStreamMsg
		err = l.ask("", func(ctx context.Context) (err error) {
			one, err = l.stream.GetMsg(ctx, at+1, jetstream.WithGetMsgSubject(link.StatesOf(playbook)))
			return err
		})
		if err != nil {
			return 0, err
		}
		if err := take(&nats.Msg{Subject: one.Subject, Header: one.Header, Data: one.Data}, one.Sequence, one.Time); err != nil {
			return 0, err
		}
		at = one.Sequence
	}
	return end.Sequence, nil
}

// silence is how long a reader waits before another one is begun.
const silence = 3 * time.Second

// stretch reads messages for as long as a reader gives some, and says how far it came.
func (l *Log) stretch(playbook string, at, until uint64, take func(*nats.Msg, uint64, time.Time) error) (uint64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	c, err := l.link.JS.OrderedConsumer(ctx, link.States, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{link.StatesOf(playbook)}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: at + 1,
	})
	if err != nil {
		return at, nil // the leader is asked
	}
	list, err := c.Messages()
	if err != nil {
		return at, nil
	}
	defer list.Stop()
	for at < until {
		msg, err := list.Next(jetstream.NextMaxWait(silence))
		if err != nil {
			return at, nil
		}
		meta, err := msg.Metadata()
		if err != nil {
			return at, err
		}
		if err := take(&nats.Msg{Subject: msg.Subject(), Header: msg.Headers(), Data: msg.Data()}, meta.Sequence.Stream, meta.Timestamp); err != nil {
			return at, err
		}
		at = meta.Sequence.Stream
	}
	return at, nil
}

// Append is statefile.Log.Append.
func (l *Log) Append(playbook string, batches []statefile.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(true); err != nil {
		return err
	}
	// All at once: at the end of a task there may be one of each of a thousand hosts.
	msgs, acks := make([]*nats.Msg, len(batches)), make([]jetstream.PubAckFuture, len(batches))
	for i := range batches {
		m, err := l.message(playbook, &batches[i])
		if err != nil {
			return err
		}
		msgs[i] = m
		acks[i], err = l.link.JS.PublishMsgAsync(m, expect(&batches[i])...)
		if err != nil {
			acks[i] = nil // it is tried again below
		}
	}
	var errs []error
	for i := range batches {
		errs = append(errs, l.settle(msgs[i], acks[i], &batches[i]))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if l.Taken != nil {
		l.Taken()
	}
	return nil
}

func expect(b *statefile.Batch) []jetstream.PublishOpt {
	return []jetstream.PublishOpt{
		jetstream.WithExpectLastSequencePerSubject(b.After), jetstream.WithExpectStream(link.States),
	}
}

// message is a batch as the stream has it.
func (l *Log) message(playbook string, b *statefile.Batch) (*nats.Msg, error) {
	l.number++
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for i := range b.Records {
		r := b.Records[i]
		r.Log, r.Seq, r.Serial = "", 0, 0 // these are of a file
		if err := enc.Encode(r); err != nil {
			return nil, err
		}
	}
	self := l.link.Self(l.writer)
	m := &nats.Msg{Subject: link.StateOf(playbook, b.Host), Data: text.Bytes(), Header: nats.Header{}}
	m.Header.Set(link.Writer, l.writer)
	m.Header.Set(link.Number, strconv.Itoa(l.number))
	m.Header.Set(userIn, self.User)
	m.Header.Set(machineIn, self.Host)
	if b.Alone {
		m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	}
	if text.Len() < bigger {
		return m, nil
	}
	m.Header.Set(codingIn, "gzip")
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	_, err := w.Write(text.Bytes())
	m.Data = small.Bytes()
	if err = errors.Join(err, w.Close()); err == nil {
		m.Data = small.Bytes()
	}
	return m, err
}

// biggest bounds what a message becomes, in bytes: it is from outside.
const biggest = 256 << 20

func decode(m *nats.Msg) (list []prior.Record, err error) {
	text := m.Data
	if m.Header.Get(codingIn) == "gzip" {
		r, err := gzip.NewReader(bytes.NewReader(text))
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(r, biggest))
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", m.Subject, err)
		}
	}
	for line := range bytes.Lines(text) {
		var r prior.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("read %s: %w", m.Subject, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// outage is how long the stream may be gone before records count as not taken.
const outage = 30 * time.Second

// settle waits until the stream has a batch, and sends it again if it was lost on the way.
func (l *Log) settle(m *nats.Msg, ack jetstream.PubAckFuture, b *statefile.Batch) (err error) {
	if ack != nil {
		select {
		case a := <-ack.Ok():
			b.Seq = a.Sequence
			return nil
		case err = <-ack.Err():
		case <-time.After(silence):
			err = nats.ErrTimeout
		}
	}
	for deadline := time.Now().Add(outage); ; {
		var refused *jetstream.APIError
		if errors.As(err, &refused) {
			if refused.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequence &&
				refused.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequenceConstant {
				return fmt.Errorf("record what was made on %s: %w", nameOf(b.Host), err)
			}
			// An acknowledgement may have been lost; then what stands in the way is this message.
			var own bool
			if own, err = l.isOwn(m, b); own {
				return nil
			}
			if _, other := errors.AsType[*OvertakenError](err); other {
				return err
			}
		}
		if l.link.Denied(m.Subject) {
			return &link.DeniedError{User: l.link.User}
		}
		if time.Now().After(deadline) || l.link.Conn.IsClosed() {
			return fmt.Errorf("the stream does not take what was made on %s: %w", nameOf(b.Host), err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		var a *jetstream.PubAck
		a, err = l.link.JS.PublishMsg(ctx, m, expect(b)...)
		cancel()
		if err == nil {
			b.Seq = a.Sequence
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// isOwn reports whether the last message of a host is the one that is being written; the error says whose it is instead.
func (l *Log) isOwn(m *nats.Msg, b *statefile.Batch) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	last, err := l.stream.GetLastMsgForSubject(ctx, m.Subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, &OvertakenError{Host: b.Host}
	}
	if err != nil {
		return false, err
	}
	if last.Header.Get(link.Writer) == l.writer && last.Header.Get(link.Number) == m.Header.Get(link.Number) {
		b.Seq = last.Sequence
		return true, nil
	}
	over := &OvertakenError{Host: b.Host, User: last.Header.Get(userIn), Machine: last.Header.Get(machineIn), At: last.Time}
	if list, err := decode(&nats.Msg{Header: last.Header, Data: last.Data}); err == nil && len(list) > 0 {
		over.Run = list[len(list)-1].Run
	}
	return false, over
}

// OvertakenError says that another process has recorded something of a host since this one has read what there is.
type OvertakenError struct {
	Host, User, Machine, Run string
	At                       time.Time
}

func (e *OvertakenError) Error() string {
	if e.User == "" {
		return "what was recorded of " + nameOf(e.Host) + " is no longer in the stream; nothing was added. Try again; for a run that is: resume it"
	}
	by := e.User + " on " + e.Machine
	if e.Run != "" {
		by = "run " + e.Run + " of " + by
	}
	return fmt.Sprintf("%s has recorded something of %s at %s, after this process had read what there was; nothing was added. Try again; for a run that is: resume it",
		by, nameOf(e.Host), e.At.Local().Format(time.DateTime))
}

// nameOf is a host for people.
func nameOf(host string) string {
	if host == "" {
		return "the playbook's steps"
	}
	return host
}

// Close ends a connection of its own.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.link != nil {
		l.link.Close()
	}
}
