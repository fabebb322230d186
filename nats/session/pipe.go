package session

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"
)

// Kind is what an item is.
type Kind byte

// The kinds of items.
const (
	In    Kind = 'i' // a piece of standard input
	InEnd Kind = 'I' // the end of it
	Size  Kind = 'w' // the terminal has another size now, as a Window
	Out   Kind = 'o' // a piece of standard output
	Err   Kind = 'e' // a piece of standard error
	Exit  Kind = 'x' // how the program has ended, as an Ending; the last one
)

// Frames that carry no item: they have no number, and are not sent again.
const (
	beat   Kind = 'b' // it lives, and has got that much
	hangUp Kind = 'h' // it has gone, on purpose
)

// Chunk is the most that an item has.
const Chunk = 64 << 10

// window is how many bytes may be under way in one direction before the other side has used them.
const window = 1 << 20

// A side sends a beat each second, and is gone when the other has waited for so many in vain. Waits are counted, and not measured: a
// process that was stopped itself must not take that for silence of the other.
const (
	beatEach   = time.Second
	mostMissed = 5
)

// ErrSilent is the end of a session whose other side says nothing.
var ErrSilent = errors.New("connection timed out: nothing was heard for 5s")

// ErrHungUp is the end of a session that the other side has left.
var ErrHungUp = errors.New("connection closed by the other side")

// errBroken is the end of a session whose other side does not keep to the rules.
var errBroken = errors.New("connection closed: what came is not of a session")

// Item is what goes over a session.
type Item struct {
	Kind Kind
	Data []byte
}

// Pipe is one side of a session.
type Pipe struct {
	publish func(frame []byte) error
	gone    chan struct{} // closed when it has ended, for whatever reason
	first   chan struct{} // closed when the other side was heard

	mu      sync.Mutex
	changed *sync.Cond
	why     error // why it has ended; nil: it has not

	number uint64 // of the next item to be sent
	sent   uint64 // bytes of items so far
	used   uint64 // of those that the other side is done with
	kept   []kept // items that may not have arrived: the last ones

	want     uint64 // number of the next item to come
	queue    []Item
	queued   int    // bytes in it
	consumed uint64 // bytes of items that were used here
	reported uint64 // of those, what the other side was notified

	heard  bool // since the last beat of this side
	missed int  // beats of this side since then
}

// kept is an item that can be sent again.
type kept struct {
	Item
	at time.Time // when it was sent last
}

// NewPipe is a side of a session that sends frames by publish. What comes is given to Take. It lives until Close.
func NewPipe(publish func(frame []byte) error) *Pipe {
	p := &Pipe{publish: publish, gone: make(chan struct{}), first: make(chan struct{})}
	p.changed = sync.NewCond(&p.mu)
	go p.keepAlive()
	return p
}

// Gone is closed when the session has ended.
func (p *Pipe) Gone() <-chan struct{} { return p.gone }

// First is closed when the other side was heard for the first time.
func (p *Pipe) First() <-chan struct{} { return p.first }

// Why says why the session has ended; nil: it has not, or was closed.
func (p *Pipe) Why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(p.why, errClosed) {
		return nil
	}
	return p.why
}

var errClosed = errors.New("the session is closed")

// Close ends this side, and says nothing to the other.
func (p *Pipe) Close() { p.end(errClosed) }

// HangUp ends this side, and notifies the other if it can be reached.
func (p *Pipe) HangUp() {
	p.mu.Lock()
	if p.why == nil {
		p.post(hangUp, 0, nil)
	}
	p.mu.Unlock()
	p.end(errClosed)
}

func (p *Pipe) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		p.why = why
		close(p.gone)
		p.changed.Broadcast()
	}
}

// post sends a frame: its kind, its number, what has arrived here, what was used of it, and the data. A frame that cannot be sent is one
// that was lost on its way.
func (p *Pipe) post(kind Kind, number uint64, data []byte) {
	frame := make([]byte, 0, len(data)+1+3*binary.MaxVarintLen64)
	frame = append(frame, byte(kind))
	for _, n := range []uint64{number, p.want, p.consumed} {
		frame = binary.AppendUvarint(frame, n)
	}
	p.reported = p.consumed
	_ = p.publish(append(frame, data...))
}

// Send sends an item, when there is room for it. Its data is copied.
func (p *Pipe) Send(kind Kind, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.why == nil && p.sent+uint64(len(data)) > p.used+window {
		p.changed.Wait()
	}
	if p.why != nil {
		return p.why
	}
	p.kept = append(p.kept, kept{Item{kind, slices.Clone(data)}, time.Now()})
	p.post(kind, p.number, data)
	p.number++
	p.sent += uint64(len(data))
	return nil
}

// Settle waits until all that was sent has arrived.
func (p *Pipe) Settle() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.why == nil && len(p.kept) > 0 {
		p.changed.Wait()
	}
	return p.why
}

// Next waits for the next item. What has arrived before the session ended is still given.
func (p *Pipe) Next() (Item, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.why == nil && len(p.queue) == 0 {
		p.changed.Wait()
	}
	if len(p.queue) == 0 {
		return Item{}, p.why
	}
	item := p.queue[0]
	p.queue = p.queue[1:]
	p.queued -= len(item.Data)
	return item, nil
}

// Used says that the data of an item is not needed any more, which makes room for others.
func (p *Pipe) Used(item Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.consumed += uint64(len(item.Data))
	if p.consumed-p.reported >= window/4 && p.why == nil {
		p.post(beat, 0, nil)
	}
}

// Beat tells the other side at once what has arrived.
func (p *Pipe) Beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.post(beat, 0, nil)
}

// Take takes a frame of the other side. It may come twice, late, or not at all.
func (p *Pipe) Take(frame []byte) {
	var head [3]uint64
	if len(frame) == 0 {
		return
	}
	kind, rest := Kind(frame[0]), frame[1:]
	for i := range head {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			p.end(errBroken)
			return
		}
		head[i], rest = n, rest[size:]
	}
	number, arrived, used := head[0], head[1], head[2]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return
	}
	if !p.heard {
		select {
		case <-p.first:
		default:
			close(p.first)
		}
	}
	p.heard = true
	if arrived > p.number || used > p.sent {
		p.endLocked(errBroken)
		return
	}
	if begin := p.number - uint64(len(p.kept)); arrived > begin {
		p.kept = slices.Clone(p.kept[arrived-begin:]) // or what was sent stays in memory
	}
	p.used = max(p.used, used)
	p.changed.Broadcast()
	switch {
	case kind == hangUp:
		p.endLocked(ErrHungUp)
	case kind == beat, number != p.want: // what is missing before it will come again, and it with that
	case len(rest) > Chunk || p.queued+len(rest) > window:
		p.endLocked(errBroken)
	default:
		p.want++
		p.queue = append(p.queue, Item{kind, slices.Clone(rest)})
		p.queued += len(rest)
	}
}

// endLocked is end where the pipe is locked.
func (p *Pipe) endLocked(why error) {
	p.why = why
	close(p.gone)
	p.changed.Broadcast()
}

// keepAlive sends beats, listens for those of the other side, and sends again what has not arrived.
func (p *Pipe) keepAlive() {
	tick := time.NewTicker(beatEach)
	defer tick.Stop()
	for {
		select {
		case <-p.gone:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		if p.missed++; p.heard {
			p.missed = 0
		}
		p.heard = false
		if p.missed >= mostMissed && p.why == nil {
			p.endLocked(ErrSilent)
		}
		if p.why == nil {
			p.post(beat, 0, nil)
			p.sendAgain()
		}
		p.mu.Unlock()
	}
}

// sendAgain sends what was sent some time ago and has not arrived since.
func (p *Pipe) sendAgain() {
	now := time.Now()
	if len(p.kept) == 0 || now.Sub(p.kept[0].at) < beatEach {
		return
	}
	begin := p.number - uint64(len(p.kept))
	for i := range p.kept {
		p.kept[i].at = now
		p.post(p.kept[i].Kind, begin+uint64(i), p.kept[i].Data)
	}
}
