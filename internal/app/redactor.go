package app

import (
	"io"
	"os"
	"sync"

	"moon/secret"
)

// redactor is the last through which text for people goes: no secret that the process knows passes. Documents for programs do not go
// through it, because it knows nothing of their form; their values were cleaned.
type redactor struct {
	mu sync.Mutex
	to io.Writer
	w  *secret.Writer
}

func newRedactor(s *secret.Set, to io.Writer) *redactor { return &redactor{to: to, w: s.Writer(to)} }

// Write implements io.Writer.
func (r *redactor) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.w.Write(p)
}

// flush writes what may have been the beginning of a secret.
func (r *redactor) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.w.Close() // whoever wrote to it has had the error, or there is nobody left to tell
}

// FileOf is the file that text for people goes to in the end; nil if it is none.
func FileOf(w io.Writer) *os.File {
	if r, ok := w.(*redactor); ok {
		w = r.to
	}
	f, _ := w.(*os.File)
	return f
}
