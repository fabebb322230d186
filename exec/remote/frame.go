package remote

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// A frame is one thing that one end says to the other:
//
//	length of the body  4 bytes, big endian
//	kind                1 byte
//	job                 4 bytes, big endian: which job it is about; 0 for the connection itself
//	body                bytes of output as they are, or a message in CBOR
type frame struct {
	kind kind
	job  uint32
	body []byte
}

type kind byte

const (
	kindHello  kind = iota + 1 // both ends, first
	kindJob                    // host: carry this out
	kindCancel                 // host: end it, for a reason
	kindNow                    // host: kill it
	kindAnswer                 // host: to an ask
	kindStdout                 // agent: a piece of output
	kindStderr
	kindMoment // agent: a process began or ended
	kindAsk    // agent: something only the host has
	kindReply  // agent: how the job ended
	lastKind   = kindReply
)

const (
	headSize = 9
	maxBody  = 64 << 20 // more than any step is made of; what claims to be more is no frame
	readable = 1 << 20  // as much is made room for at once, on the word of a head
)

// tooLargeError says that something does not fit into a frame.
type tooLargeError struct{ size int }

func (e tooLargeError) Error() string {
	return fmt.Sprintf("the step is too large to be handed to another user or host: %d MB, the most is %d", e.size>>20, maxBody>>20)
}

// banner is the line that an agent begins with. What comes before it was said by those who started it.
const banner = "moon agent"

// farewell is how long an agent whose host has gone waits for what it kills.
const farewell = 5 * time.Second

// errFrame is what a reader says of bytes that are no frame.
var errFrame = errors.New("the other end of the connection does not speak its language")

// readFrame reads one frame. The end of the stream between two frames is io.EOF, in the middle of one io.ErrUnexpectedEOF.
func readFrame(r *bufio.Reader) (frame, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(head[:4])
	f := frame{kind: kind(head[4]), job: binary.BigEndian.Uint32(head[5:])}
	if size > maxBody || f.kind == 0 || f.kind > lastKind {
		return frame{}, errFrame
	}
	// The size is a claim of the other end: a large body is read as it comes.
	if size <= readable {
		f.body = make([]byte, size)
		_, err := io.ReadFull(r, f.body)
		return f, markCut(err)
	}
	var body bytes.Buffer // grows with what really comes
	_, err := io.CopyN(&body, r, int64(size))
	f.body = body.Bytes()
	return f, markCut(err)
}

// markCut makes the end of the stream within a frame what it is.
func markCut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendFrame is the frame as bytes.
func appendFrame(b []byte, f frame) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.body)))
	b = append(b, byte(f.kind))
	b = binary.BigEndian.AppendUint32(b, f.job)
	return append(b, f.body...)
}

// writer writes frames, from several goroutines.
type writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// writeRaw writes a frame with a body as it is.
func (w *writer) writeRaw(k kind, job uint32, body []byte) error {
	if len(body) > maxBody {
		return tooLargeError{len(body)}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = appendFrame(w.buf[:0], frame{k, job, body})
	_, err := w.w.Write(w.buf)
	// One large frame must not keep its memory for ever.
	if cap(w.buf) > readable {
		w.buf = nil
	}
	return err
}

// sendMessage writes a frame with a message.
func (w *writer) sendMessage(k kind, job uint32, message any) error {
	body, err := encodeMessage(message)
	if err != nil {
		return err
	}
	return w.writeRaw(k, job, body)
}
