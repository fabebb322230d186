package cli

import (
	"io"
	"os"
	"sync"

	"moon/secret"
)

// gate is the last through which text for people goes: no secret that the process knows passes. Documents for programs do not go
// through it, because it knows nothing of their form; their values were cleaned.
type gate struct {
	mu sync.Mutex
	to io.Writer
	w  *secret.Writer
}

func newGate(s *secret.Set, to io.Writer) *gate { return &gate{to: to, w: s.Writer(to)} }

// Write implements io.Writer.
func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.w.Write(p)
}

// flush writes what may have been the beginning of a secret.
func (g *gate) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.w.Close() // whoever wrote to it has had the error, or there is nobody left to tell
}

// fileOf is the file that text for people goes to in the end; nil if it is none.
func fileOf(w io.Writer) *os.File {
	if g, ok := w.(*gate); ok {
		w = g.to
	}
	f, _ := w.(*os.File)
	return f
}
