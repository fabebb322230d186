package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"moon/exec"
)

// Connect gives a user a connection whose far end is known, and not started.
func (l *Pool) Connect(b exec.Become, in io.Reader, out io.Writer, hang func()) error {
	return l.connectAs(connKey{become: b}, in, out, hang)
}

// ConnectHost is Connect for a host.
func (l *Pool) ConnectHost(h exec.Host, in io.Reader, out io.Writer, hang func()) error {
	return l.connectAs(connKey{host: h}, in, out, hang)
}

// Kinds are the frames of a stream by name.
func Kinds(stream []byte) []string {
	names := map[kind]string{
		kindHello: "hello", kindJob: "job", kindCancel: "cancel", kindNow: "now", kindAnswer: "answer",
		kindStdout: "stdout", kindStderr: "stderr", kindMoment: "moment", kindAsk: "ask", kindReply: "reply",
	}
	var list []string
	for r := bufio.NewReader(bytes.NewReader(stream)); ; {
		f, err := readFrame(r)
		if err != nil {
			return list
		}
		list = append(list, names[f.kind])
	}
}

func (l *Pool) connectAs(k connKey, in io.Reader, out io.Writer, hang func()) error {
	s := &launch{out: bufio.NewReader(in), greeting: make(chan string, 3)}
	s.readGreeting()
	if text := <-s.greeting; text != banner {
		return errors.New("no banner")
	}
	f, err := readFrame(s.out)
	if err != nil || f.kind != kindHello {
		return errors.Join(err, errFrame)
	}
	o := &opening{done: make(chan struct{}), conn: newConn(s.out, out, hang), end: hang}
	close(o.done)
	if l.conns == nil {
		l.conns = map[connKey]*opening{}
	}
	l.conns[k] = o
	return nil
}

// Frames reads frames to the end of the bytes, and gives them back written again.
func Frames(stream []byte) (again []byte, n int, err error) {
	r := bufio.NewReader(bytes.NewReader(stream))
	for {
		f, err := readFrame(r)
		if err != nil {
			return again, n, err
		}
		again = appendFrame(again, f)
		n++
	}
}

// Frame is one frame as bytes.
func Frame(k byte, job uint32, body []byte) []byte {
	return appendFrame(nil, frame{kind(k), job, body})
}

// Message is a frame with a message, by the kind's name.
func Message(k string, job uint32, message any) []byte {
	body, err := encodeMessage(message)
	if err != nil {
		panic(err)
	}
	kinds := map[string]kind{"job": kindJob, "cancel": kindCancel, "now": kindNow, "answer": kindAnswer, "ask": kindAsk, "reply": kindReply}
	return appendFrame(nil, frame{kinds[k], job, body})
}

// Carried is a value as it arrives at the other end.
func Carried(v any) (any, error) {
	body, err := encodeMessage(map[string]any{"v": plainValues(v)})
	if err != nil {
		return nil, err
	}
	var got map[string]any
	err = decodeMessage(body, &got)
	return nativeValues(got["v"]), err
}

// CarriedError is an error as it arrives.
func CarriedError(err error) error { return newFailure(err).toError() }

// AskHost is a question as an agent puts it, and what the host says to it.
func AskHost(job *exec.Job, what, text, file string) (string, error) {
	a := answering{job: job, files: map[uint32]io.ReadCloser{}}
	got := a.answerTo(ask{What: what, Text: text, File: file})
	a.closeAll()
	return got.Text, got.Err.toError()
}

// The rest of the tests' view.
const (
	LastKind = byte(lastKind)
	MaxBody  = maxBody
)

// ErrFrame is said of bytes that are no frame.
var ErrFrame = errFrame

// PrefixOn is what stands in front of a command on a host.
func (l *Pool) PrefixOn(h exec.Host, b *exec.Become, cwd string) ([]string, error) {
	return l.prefixOn(h, b, cwd)
}

// PutPiece has the agent of a job send all of a file.
func PutPiece(job *exec.Job, dry bool, piece []byte) error {
	a := answering{job: job, dry: dry}
	return a.answerTo(ask{What: askPut, Data: piece, Yes: true}).Err.toError()
}
