package fsys

import (
	"bytes"
	"context"
	"errors"
	"io"

	"moon/exec/fault"
)

// ErrSame says that what is read is what is there already.
var ErrSame = errors.New("nothing new")

// Comparing reads something and ends with errSame if something else is the same.
type Comparing struct {
	io.ReadCloser
	With  io.ReadCloser
	other bool
}

func (c *Comparing) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if !c.other {
		there := make([]byte, n)
		if _, short := io.ReadFull(c.With, there); short != nil || !bytes.Equal(there, p[:n]) {
			c.other = true
		}
	}
	if err == io.EOF && !c.other {
		if more, _ := c.With.Read(make([]byte, 1)); more == 0 {
			return n, ErrSame
		}
	}
	return n, err
}

// Close closes both files.
func (c *Comparing) Close() error { return errors.Join(c.With.Close(), c.ReadCloser.Close()) }

// stoppable is a reader that ends when the step is stopped.
type stoppable struct {
	ctx context.Context // a reader knows no other way
	io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if fault.Stopped(s.ctx) != "" {
		return 0, context.Cause(s.ctx)
	}
	return s.Reader.Read(p)
}

// UntilStopped reads until the step is stopped.
func UntilStopped(ctx context.Context, r io.Reader) io.Reader { return stoppable{ctx, r} }
