package session

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// bad is a network that loses, repeats and reorders frames.
type bad struct {
	mu     sync.Mutex
	random *rand.Rand
	queue  chan []byte
	late   []byte
}

func newBad(seed uint64) *bad {
	return &bad{random: rand.New(rand.NewPCG(seed, 1)), queue: make(chan []byte, 100_000)}
}

func (b *bad) publish(frame []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.random.IntN(60) {
	case 0: // it is lost
	case 1:
		b.queue <- frame
		b.queue <- frame
	case 2:
		b.late = frame
	default:
		b.queue <- frame
		if b.late != nil {
			b.queue <- b.late
			b.late = nil
		}
	}
	return nil
}

// joined are two sides with a network each way, and what ends it.
func joined(t *testing.T, seed uint64) (one, other *Pipe) {
	t.Helper()
	there, back := newBad(seed), newBad(seed+1)
	one, other = NewPipe(there.publish), NewPipe(back.publish)
	for to, by := range map[*Pipe]*bad{other: there, one: back} {
		go func() {
			for {
				select {
				case frame := <-by.queue:
					to.Take(frame)
				case <-to.Gone():
					return
				}
			}
		}()
	}
	t.Cleanup(func() { one.Close(); other.Close() })
	return one, other
}

// TestPipeOverBadNetworks has all items arrive once and in order over networks that lose, repeat and reorder frames.
func TestPipeOverBadNetworks(t *testing.T) {
	for seed := range uint64(4) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			one, other := joined(t, 10*seed)
			var sent, got bytes.Buffer
			const items = 80
			go func() {
				for i := range items {
					data := bytes.Repeat([]byte{byte(i)}, 1+i*Chunk/items)
					sent.Write(data)
					if one.Send(In, data) != nil {
						return
					}
				}
				_ = one.Send(InEnd, nil)
			}()
			for {
				item, err := other.Next()
				if err != nil {
					t.Fatalf("seed %d, after %d bytes: %v", seed, got.Len(), err)
				}
				got.Write(item.Data)
				other.Used(item)
				if item.Kind == InEnd {
					break
				}
			}
			if !bytes.Equal(sent.Bytes(), got.Bytes()) {
				t.Errorf("seed %d: %d bytes were sent, and %d came, or others", seed, sent.Len(), got.Len())
			}
		})
	}
}

// TestPipeWaitsForRoom has a side that sends wait until the other has used what came.
func TestPipeWaitsForRoom(t *testing.T) {
	var other *Pipe
	ready := make(chan struct{})
	one := NewPipe(func(frame []byte) error { <-ready; other.Take(frame); return nil })
	frames := make(chan []byte, 1000) // or the two would wait for each other
	other = NewPipe(func(frame []byte) error { frames <- frame; return nil })
	close(ready)
	go func() {
		for frame := range frames {
			one.Take(frame)
		}
	}()
	defer one.Close()
	defer other.Close()
	sent := make(chan int, 1000)
	go func() {
		for i := range 40 {
			if one.Send(Out, make([]byte, Chunk)) != nil {
				return
			}
			sent <- i
		}
	}()
	time.Sleep(300 * time.Millisecond)
	if n := len(sent); n != window/Chunk {
		t.Errorf("%d items were sent, and there is room for %d", n, window/Chunk)
	}
	for range 40 {
		item, err := other.Next()
		if err != nil {
			t.Fatal(err)
		}
		other.Used(item)
	}
	if err := one.Settle(); err != nil {
		t.Error(err)
	}
}

// TestPipeSilence has a side end whose other side says nothing, or nonsense, or goodbye.
func TestPipeSilence(t *testing.T) {
	alone := NewPipe(func([]byte) error { return nil })
	began := time.Now()
	<-alone.Gone()
	if took := time.Since(began); !errors.Is(alone.Why(), ErrSilent) || took < 4*time.Second || took > 8*time.Second {
		t.Errorf("after %s: %v", took, alone.Why())
	}
	for _, frame := range []string{"b", "b\x00\x05\x00", "b\x00\x00\x05", "i\x00\x00", "i\x00\xff"} {
		p := NewPipe(func([]byte) error { return nil })
		p.Take([]byte(frame))
		if !errors.Is(p.Why(), errBroken) {
			t.Errorf("%q: %v", frame, p.Why())
		}
		p.Close()
	}
	p := NewPipe(func([]byte) error { return nil })
	p.Take([]byte("i\x00\x00\x00last"))
	p.Take([]byte("h\x00\x00\x00"))
	if item, err := p.Next(); err != nil || string(item.Data) != "last" {
		t.Errorf("what came before the end: %q, %v", item.Data, err)
	}
	if _, err := p.Next(); !errors.Is(err, ErrHungUp) {
		t.Errorf("then: %v", err)
	}
}
