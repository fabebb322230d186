package steplog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"weak"
)

// Texts reads files of output whole, and remembers the last one as long as somebody uses it: the rounds of a loop use the same. The zero
// value is ready to use.
type Texts struct {
	mu   sync.Mutex
	file string
	last weak.Pointer[string]
}

// Read gives what a file has, which must be as many bytes as were written.
func (t *Texts) Read(file string, size int64) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last := t.last.Value(); t.file == file && last != nil {
		return *last, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	var b strings.Builder
	b.Grow(int(size))
	if _, err := f.WriteTo(&b); err != nil {
		return "", fmt.Errorf("read output: %w", err)
	}
	text := b.String()
	// A file that is shorter than its record was cut by someone; a result must not change silently.
	if int64(len(text)) != size {
		return "", fmt.Errorf("read output: %s has %d bytes; %d were written", filepath.Base(file), len(text), size)
	}
	// A weak pointer: as long as an expression holds the text no second copy is read, and then it may go.
	t.file, t.last = file, weak.Make(&text)
	return text, nil
}
