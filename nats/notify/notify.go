package notify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"moon/nats/link"
)

// The kinds of events that can be asked for.
const (
	Waits  = "waits"  // a run waits for a person: to approve, to confirm, or to answer a pause
	Failed = "failed" // a run has ended with failed steps
	Done   = "done"   // a run has ended otherwise
)

// Event is what a receiver gets. Its JSON is the body of a webhook.
type Event struct {
	Key      string    `json:"key"` // the same if it comes again
	Event    string    `json:"event"`
	Run      string    `json:"run"`
	Playbook string    `json:"playbook,omitempty"`
	Root     string    `json:"root,omitempty"` // the directory of the playbook
	Host     string    `json:"host,omitempty"` // the machine on which the run was started
	Actor    string    `json:"actor,omitempty"`
	Step     string    `json:"step,omitempty"`
	Reason   string    `json:"reason,omitempty"` // why it waits
	Message  string    `json:"message,omitempty"`
	Outcome  string    `json:"outcome,omitempty"` // how it has ended
	Time     time.Time `json:"time"`
}

// Teller tells a receiver of events.
type Teller struct {
	Link *link.Link
	Name string   // of the consumer; "": made of the receiver
	On   []string // the kinds; none: all
	Err  io.Writer

	URL     string                                       // of a webhook; or
	Command func(ctx context.Context, body []byte) error // what is started
	Given   string                                       // the command as written, for the name
	sent    map[string]bool                              // of the message at hand
	runs    map[string]created                           // what is known of runs
}

// created is of a record run.created.
type created struct {
	Playbook string `json:"playbook"`
	Root     string `json:"root"`
	Actor    string `json:"actor"`
	Host     string `json:"host"`
}

// Kinds reads a list with commas.
func Kinds(text string) (list []string, err error) {
	for k := range strings.SplitSeq(text, ",") {
		if k = strings.TrimSpace(k); k != Waits && k != Failed && k != Done {
			return nil, fmt.Errorf("--on takes waits, failed and done, with commas, and not %q", k)
		}
		list = append(list, k)
	}
	return list, nil
}

// longest is how long a receiver is left alone at most that takes nothing.
const longest = 5 * time.Minute

// Tell tells the receiver what happens from now on, or from where it was, until ctx ends.
func (t *Teller) Tell(ctx context.Context) error {
	if t.Name == "" {
		sum := sha256.Sum256([]byte(t.URL + "\x00" + t.Given + "\x00" + strings.Join(t.On, ",")))
		t.Name = hex.EncodeToString(sum[:6])
	}
	t.sent, t.runs = map[string]bool{}, map[string]created{}
	durable := "notify-" + t.Name
	c, err := t.Link.JS.Consumer(ctx, link.Stream, durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		c, err = t.Link.JS.CreateConsumer(ctx, link.Stream, jetstream.ConsumerConfig{
			Durable: durable, FilterSubject: "moon.runs.*.journal", DeliverPolicy: jetstream.DeliverNewPolicy,
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second, MaxAckPending: 64,
		})
	}
	if err != nil {
		return fmt.Errorf("read the journals: %w", err)
	}
	// One after the other: a receiver that is down holds up the rest, and loses nothing of it. What was fetched ahead would come again
	// meanwhile.
	list, err := c.Messages(jetstream.PullMaxMessages(1))
	if err != nil {
		return fmt.Errorf("read the journals: %w", err)
	}
	defer list.Stop()
	defer context.AfterFunc(ctx, list.Stop)()
	for {
		msg, err := list.Next()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
				return fmt.Errorf("read the journals: %w", err)
			}
			time.Sleep(100 * time.Millisecond) // the servers are gone, and may come back
			continue
		}
		_ = t.take(ctx, msg) // what was not taken comes again
	}
}

// take tells of one message until the receiver has taken all of it.
func (t *Teller) take(ctx context.Context, msg jetstream.Msg) error {
	clear(t.sent)
	run := link.RunOf(msg.Subject())
	pause := time.Second / 2
	list := t.events(ctx, run, msg.Data())
	if len(list) == 0 {
		return msg.Ack() // if that is lost, it comes again, and means nothing again
	}
	for _, e := range list {
		for !t.sent[e.Key] {
			err := t.tell(ctx, e)
			if err == nil {
				t.sent[e.Key] = true
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintf(t.Err, "moon-nats: %s of run %s was not taken: %s; again in %s\n", e.Event, e.Run, err, pause)
			if err := t.wait(ctx, msg, pause); err != nil {
				return err
			}
			pause = min(2*pause, longest)
		}
	}
	for ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := msg.DoubleAck(within)
		cancel()
		if err == nil || errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
			return nil
		}
		time.Sleep(200 * time.Millisecond) // the servers are gone, and may come back
	}
	return ctx.Err()
}

// wait waits, and keeps the message meanwhile.
func (t *Teller) wait(ctx context.Context, msg jetstream.Msg, pause time.Duration) error {
	for end := time.Now().Add(pause); ; {
		_ = msg.InProgress() // it comes again otherwise
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(time.Until(end), 10*time.Second)):
		}
		if !time.Now().Before(end) {
			return nil
		}
	}
}

// record is what is read of a line of a journal.
type record struct {
	Seq  uint64          `json:"seq"`
	At   time.Time       `json:"at"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// events are those of a message that were asked for.
func (t *Teller) events(ctx context.Context, run string, lines []byte) (list []Event) {
	for line := range bytes.Lines(lines) {
		var r record
		_, text, _ := bytes.Cut(line, []byte(" ")) // the checksum
		if run == "" || json.Unmarshal(text, &r) != nil {
			continue
		}
		e := Event{Key: fmt.Sprint(run, "-", r.Seq), Run: run, Time: r.At}
		if r.Kind == "run.created" {
			var c created
			if json.Unmarshal(r.Data, &c) == nil {
				t.runs[run] = c
			}
		}
		if !t.fill(&e, r) || len(t.On) > 0 && !slices.Contains(t.On, e.Event) {
			continue
		}
		c := t.about(ctx, run)
		e.Playbook, e.Root, e.Actor, e.Host = c.Playbook, c.Root, c.Actor, c.Host
		list = append(list, e)
		if e.Event != Waits {
			delete(t.runs, run)
		}
	}
	return list
}

// fill says what a record means to others; false: nothing.
func (t *Teller) fill(e *Event, r record) bool {
	var d struct {
		Step    *int   `json:"step"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Outcome string `json:"outcome"`

		Due time.Time `json:"due"`
	}
	if json.Unmarshal(r.Data, &d) != nil {
		return false
	}
	switch {
	case r.Kind == "gate.opened" && d.Due.IsZero(): // one that is due at a time waits for no person
		e.Event, e.Reason = Waits, "pause"
	case r.Kind == "run.paused" && (d.Reason == "confirm" || d.Reason == "undecided" || d.Reason == "failure"):
		e.Event, e.Reason = Waits, d.Reason
	case r.Kind == "run.finished":
		if e.Event = Done; d.Outcome == "failed" {
			e.Event = Failed
		}
	default:
		return false
	}
	e.Message, e.Outcome = d.Message, d.Outcome
	if d.Step != nil && *d.Step >= 0 {
		e.Step = fmt.Sprintf("step-%04d", *d.Step+1)
	}
	return true
}

// about is how a run was made, which its first message says.
func (t *Teller) about(ctx context.Context, run string) (c created) {
	if c, known := t.runs[run]; known {
		return c
	}
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	first, err := t.Link.Runs.GetMsg(within, 0, jetstream.WithGetMsgSubject(link.Journal(run)))
	if err != nil {
		return c // it is reported without
	}
	for line := range bytes.Lines(first.Data) {
		var r record
		_, text, _ := bytes.Cut(line, []byte(" "))
		if json.Unmarshal(text, &r) == nil && r.Kind == "run.created" && json.Unmarshal(r.Data, &c) == nil {
			t.runs[run] = c
			return c
		}
	}
	return c
}

// tell offers an event to the receiver. A webhook has taken it with any status of success.
func (t *Teller) tell(ctx context.Context, e Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if t.Command != nil {
		return t.Command(ctx, body)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", e.Key)
	req.Header.Set("User-Agent", "moon-nats")
	a, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(a.Body, 64<<10)) // so that the connection can be used again
	if err := a.Body.Close(); err != nil {
		return err
	}
	if a.StatusCode/100 != 2 {
		return fmt.Errorf("it says %s", a.Status)
	}
	return nil
}
