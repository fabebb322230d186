package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// What a message may cost. A document of the largest size that moon reads is 16 MB, and may be escaped.
const (
	maxBody   = 128 << 20
	maxHeader = 8 << 10
)

// The codes of errors that JSON-RPC and the protocol have.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	NoSuchMethod   = -32601
	InvalidParams  = -32602
	InternalError  = -32603
	NotInitialized = -32002
	RequestFailed  = -32803
	Cancelled      = -32800
)

// Message is a request, a notification (no ID) or an answer (no Method).
type Message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
}

// Error is why a request has no result.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Asks reports whether the message wants an answer.
func (m *Message) Asks() bool { return m.Method != "" && len(m.ID) > 0 }

// Conn reads messages, and writes them whole, also from several goroutines.
type Conn struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

// NewConn is a connection over two streams.
func NewConn(in io.Reader, out io.Writer) *Conn { return &Conn{in: bufio.NewReader(in), out: out} }

// Read gives the next message. An *Error is one that could be framed and not be read: the next may be better. Any other error ends
// the connection, io.EOF in order.
func (c *Conn) Read() (*Message, error) {
	length, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	// Grown as it arrives: a length alone must not take memory.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, c.in, int64(length)); err != nil {
		return nil, fmt.Errorf("a message ends before its Content-Length of %d: %w", length, io.ErrUnexpectedEOF)
	}
	var read struct {
		Version string `json:"jsonrpc"`
		Message
	}
	if err := json.Unmarshal(body.Bytes(), &read); err != nil {
		return nil, &Error{ParseError, "the message is not a JSON object: " + err.Error()}
	}
	m := read.Message
	if string(m.ID) == "null" {
		m.ID = nil
	}
	if read.Version != "2.0" {
		return &m, &Error{InvalidRequest, `the message has no "jsonrpc": "2.0"`}
	}
	return &m, nil
}

// readHeader reads the lines before a message, and gives its length.
func (c *Conn) readHeader() (length int, err error) {
	length = -1
	for read := 0; ; {
		line, err := c.in.ReadSlice('\n')
		read += len(line)
		switch {
		case errors.Is(err, io.EOF) && read == 0:
			return 0, io.EOF
		case err != nil:
			return 0, fmt.Errorf("the header of a message cannot be read: %w", err)
		case read > maxHeader:
			return 0, fmt.Errorf("the header of a message has more than %d bytes", maxHeader)
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(text, ":")
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxBody {
			return 0, fmt.Errorf("the Content-Length %q is not a number of at most %d", strings.TrimSpace(value), maxBody)
		}
	}
	if length < 0 {
		return 0, errors.New("a message has no Content-Length")
	}
	return length, nil
}

// Answer writes the result of a request, or why there is none.
func (c *Conn) Answer(id json.RawMessage, result any, failed *Error) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	if failed != nil {
		return c.write(struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Error   *Error          `json:"error"`
		}{"2.0", id, failed})
	}
	return c.write(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"` // null is an answer
	}{"2.0", id, result})
}

// Notify writes a notification, or a request if there is an id.
func (c *Conn) Notify(id any, method string, params any) error {
	return c.write(struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", id, method, params})
}

func (c *Conn) write(message any) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// In one piece, so that what is written is a message or nothing.
	_, err := c.out.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", body.Len()), body.Bytes()...))
	return err
}
