package process

import (
	"bytes"
	"strings"
	"sync"
)

// Tail keeps the end of what a program writes, for those who say how it ended. The zero value is ready to use.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 2 << 10

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// String is what was kept, without white space around it.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(bytes.ToValidUTF8(t.text, nil)))
}

// LastLine is the last line that has anything on it.
func (t *Tail) LastLine() string {
	text := t.String()
	return text[strings.LastIndexByte(text, '\n')+1:]
}
