package link

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options are how NATS is reached.
type Options struct {
	URL         string        // nats://host:port, several with commas
	Credentials string        // file of a user's credentials; "": none
	CA          string        // file of certificates that sign those of the servers; "": those of the system
	Cert, Key   string        // files of the client's own certificate and its key; "": none
	Replicas    int           // copies of each message; 0: 1
	Lease       time.Duration // how long a process counts as alive that says nothing, if the servers have no such time yet; 0: 10 s
}

// Stream is the name of the stream that has the runs.
const Stream = "MOON_RUNS"

// States is the name of the stream that has what runs have made on hosts.
const States = "MOON_STATES"

// leases is the name of the bucket that says who has which run.
const leases = "MOON_LEASES"

// usualLease is Options.Lease.
const usualLease = 10 * time.Second

// electedWithin is how long the servers of a cluster may take to agree on a leader.
const electedWithin = 20 * time.Second

// patience bounds a request to the servers.
const patience = 5 * time.Second

// Link is a connection to NATS.
type Link struct {
	Conn   *nats.Conn
	JS     jetstream.JetStream
	Runs   jetstream.Stream
	Leases jetstream.KeyValue
	User   string // who this process is, as a word of a subject

	LeaseFor time.Duration // how long a process counts as alive that says nothing
	Copies   int           // of each message, in what this process makes

	denied     sync.Map // subjects that the servers do not let this user write to
	deniedRead sync.Map // and those that it may not read
}

var (
	deniedTo   = regexp.MustCompile(`(?i)violation for publish to "([^"]+)"`)
	deniedFrom = regexp.MustCompile(`(?i)violation for subscription to "([^"]+)"`)
)

// note takes what the servers say by themselves.
func (l *Link) note(_ *nats.Conn, _ *nats.Subscription, err error) {
	if m := deniedTo.FindStringSubmatch(err.Error()); m != nil {
		l.denied.Store(m[1], true)
	}
	if m := deniedFrom.FindStringSubmatch(err.Error()); m != nil {
		l.deniedRead.Store(m[1], true)
	}
}

// Denied reports whether the servers have refused to pass on what was sent to a subject.
func (l *Link) Denied(subject string) bool {
	_, denied := l.denied.Load(subject)
	return denied
}

// DeniedRead reports whether the servers have refused a subscription.
func (l *Link) DeniedRead(subject string) bool {
	_, denied := l.deniedRead.Load(subject)
	return denied
}

// DeniedError says that the servers do not let a user do something.
type DeniedError struct{ User string }

func (e *DeniedError) Error() string {
	return e.User + " may not do this: the servers do not permit it"
}

// attempt is how long one request to the servers may take, of those that Insist makes.
const attempt = 3 * time.Second

// Insist asks the servers until they answer: while a cluster elects a leader, a request may be lost. What they answer is what counts, also
// an error.
func Insist(ctx context.Context, within time.Duration, ask func(context.Context) error) error {
	for end := time.Now().Add(within); ; {
		once, cancel := context.WithTimeout(ctx, attempt)
		err := ask(once)
		cancel()
		// Only what says nothing of the question is asked again.
		silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) ||
			errors.Is(err, jetstream.ErrNoStreamResponse)
		if err == nil || !silent || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Ask sends a request, and waits for the answer. If no process listens, the error is nats.ErrNoResponders.
func (l *Link) Ask(subject string, data []byte, within time.Duration) ([]byte, error) {
	inbox := l.Conn.NewRespInbox()
	sub, err := l.Conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection ends it, too
	if err := l.Conn.PublishRequest(subject, inbox, data); err != nil {
		return nil, err
	}
	// A server that refuses a message says so to the connection, and not to who has sent it.
	for end := time.Now().Add(within); time.Now().Before(end); {
		m, err := sub.NextMsg(100 * time.Millisecond)
		switch {
		case err == nil && len(m.Data) == 0 && m.Header.Get("Status") == "503":
			return nil, nats.ErrNoResponders
		case err == nil:
			return m.Data, nil
		case !errors.Is(err, nats.ErrTimeout):
			return nil, err
		}
		if l.Denied(subject) {
			return nil, &DeniedError{l.User}
		}
	}
	return nil, nats.ErrTimeout
}

// Connect connects, and asks for nothing that servers keep.
func Connect(o Options, more ...nats.Option) (*Link, error) {
	set := append([]nats.Option{
		nats.Name("moon"), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.RetryOnFailedConnect(false),
		nats.Timeout(patience), nats.FlusherTimeout(patience), // a server that takes nothing is one that has gone
		// A server may be there and say nothing. Then another one is taken, long before the run ends for it.
		nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2),
	}, more...)
	if o.Credentials != "" {
		set = append(set, nats.UserCredentials(o.Credentials))
	}
	if o.CA != "" {
		set = append(set, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		set = append(set, nats.ClientCert(o.Cert, o.Key))
	}
	// Answers come to an inbox that others can be kept from reading.
	if name := userIn(o.URL); name != "" {
		set = append(set, nats.CustomInboxPrefix("_INBOX_"+wordOf(name)))
	}
	l := &Link{User: wordOf(cmp.Or(userIn(o.URL), userHere()))}
	set = append(set, nats.ErrorHandler(l.note))
	conn, err := nats.Connect(o.URL, set...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w; moon-nats serve starts a server of your own", withoutPassword(o.URL), err)
	}
	l.Conn = conn
	return l, nil
}

// Dial connects, and makes what runs are kept in where it is missing.
func Dial(ctx context.Context, o Options) (_ *Link, err error) {
	l, err := Connect(o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.JS, err = jetstream.New(l.Conn, jetstream.WithPublishAsyncTimeout(patience)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	copies := cmp.Or(o.Replicas, 1)
	l.Copies = copies
	// What is there is taken as it is: its limits are those of who runs the servers.
	l.Runs, err = l.JS.Stream(ctx, Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		l.Runs, err = l.JS.CreateStream(ctx, jetstream.StreamConfig{
			Name: Stream, Subjects: []string{"moon.runs.>"}, Storage: jetstream.FileStorage, Replicas: copies,
			Discard: jetstream.DiscardNew, DenyDelete: true, // the journal is only ever appended to
		})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another moon was faster
			l.Runs, err = l.JS.Stream(ctx, Stream)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find the stream of the runs: %w", err)
	}
	l.Leases, err = l.JS.KeyValue(ctx, leases)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		l.Leases, err = l.JS.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: leases, TTL: cmp.Or(o.Lease, usualLease), Storage: jetstream.MemoryStorage, Replicas: copies,
		})
	}
	if err != nil {
		return nil, fmt.Errorf("find who has the runs: %w", err)
	}
	status, err := l.Leases.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("find who has the runs: %w", err)
	}
	l.LeaseFor = cmp.Or(status.TTL(), usualLease)
	return l, nil
}

// Bucket is one of keys and values, which is made where it is missing. What is there is taken as it is.
func (l *Link) Bucket(ctx context.Context, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	kv, err := l.JS.KeyValue(ctx, c.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		c.Replicas = l.Copies
		kv, err = l.JS.CreateOrUpdateKeyValue(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("find the bucket %s: %w", c.Bucket, err)
	}
	return kv, nil
}

// Close ends the connection.
func (l *Link) Close() { l.Conn.Close() }

// withoutPassword is an address as people may see it.
func withoutPassword(address string) string {
	return regexp.MustCompile(`//[^@/]*@`).ReplaceAllString(address, "//")
}

// userIn is the user that an address names, or "".
func userIn(address string) string {
	first, _, _ := strings.Cut(address, ",")
	u, err := url.Parse(first)
	if err != nil || u.User == nil {
		return ""
	}
	return u.User.Username()
}

// userHere is who the system knows.
func userHere() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

var noWord = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// IsWord reports whether a text can be a word of a subject, and names nothing else.
func IsWord(text string) bool { return text != "" && !noWord.MatchString(text) }

// wordOf is a name as one word of a subject.
func wordOf(name string) string {
	return cmp.Or(strings.Trim(noWord.ReplaceAllString(name, "_"), "_"), "unknown")
}

// idOf is how ids of runs look: the second in which a run was started, and four digits.
var idOf = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$`)

// IsID reports whether a text can be the id of a run. What comes from outside must not name anything else, on the disk or in a subject.
func IsID(text string) bool { return idOf.MatchString(text) }

// Journal is the subject of a run's journal.
func Journal(id string) string { return "moon.runs." + id + ".journal" }

// File is the subject of a run's other files.
func File(id string) string { return "moon.runs." + id + ".file" }

// All is the subject of everything of a run.
func All(id string) string { return "moon.runs." + id + ".>" }

// Control is the subject of requests to a run, by a user.
func Control(id, by string) string { return "moon.control." + id + "." + by }

// StatesOf is the subject of all that runs of a playbook have made, which is known by a word.
func StatesOf(playbook string) string { return "moon.states." + playbook + ".>" }

// StateOf is the subject of what they have made on a host; "" is the playbook as a whole.
func StateOf(playbook, host string) string {
	if host == "" {
		return "moon.states." + playbook + ".@" // no host has that word
	}
	return "moon.states." + playbook + "." + hostWord(host)
}

// ToAgent is the subject of what goes to the agent of a host: open, who, or the id of a session.
func ToAgent(host, about string) string { return "moon.agents." + hostWord(host) + "." + about }

// FromAgent is the subject of what the agent of a host says in a session.
func FromAgent(host, session string) string { return "moon.sessions." + hostWord(host) + "." + session }

// hostWord is the name of a host as one word of a subject. Two names never have the same.
func hostWord(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// RunOf is the run that a subject is about, or "".
func RunOf(subject string) string {
	parts := strings.Split(subject, ".")
	if len(parts) < 4 || !IsID(parts[2]) {
		return ""
	}
	return parts[2]
}

// The headers of messages.
const (
	Writer = "Moon-Writer" // the process that wrote it, by a word that is never used again
	Number = "Moon-Number" // how many messages the writer had written to the journal, with this one
	Path   = "Moon-Path"   // of a file, in the directory of the run
	Offset = "Moon-Offset" // where the piece begins in the file
)

// Holder is the process that has a run, as its lease says.
type Holder struct {
	Writer string    `json:"writer"`
	User   string    `json:"user"`
	Host   string    `json:"host"`
	PID    int       `json:"pid"`
	Since  time.Time `json:"since"`
}

// HolderOf says who has a run; nil: no process.
func (l *Link) HolderOf(ctx context.Context, id string) (*Holder, error) {
	var entry jetstream.KeyValueEntry
	err := Insist(ctx, electedWithin, func(ctx context.Context) (err error) {
		entry, err = l.Leases.Get(ctx, id)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find who has run %s: %w", id, err)
	}
	var h Holder
	if err := json.Unmarshal(entry.Value(), &h); err != nil {
		return nil, fmt.Errorf("find who has run %s: %w", id, err)
	}
	return &h, nil
}

// String is the holder, for people.
func (h Holder) String() string { return fmt.Sprintf("%s on %s, process %d", h.User, h.Host, h.PID) }

// Self is this process as the holder of a run.
func (l *Link) Self(writer string) Holder {
	host, _ := os.Hostname() // for people
	return Holder{Writer: writer, User: l.User, Host: host, PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)}
}
