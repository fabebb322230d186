package process

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestUnreadOutput reads the output of a process where that fails: it must not look like its end.
func TestUnreadOutput(t *testing.T) {
	dir, err := syscall.Open(t.TempDir(), syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := readOutput(dir); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a failed read gives %v", err)
	}
	null, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := readOutput(null); err != nil {
		t.Errorf("the end of the output gives %v", err)
	}
}

// readOutput reads a piece of what a process prints from a file, and gives the error that its step would end with.
func readOutput(fd int) error {
	c := &child{Command: &Command{}}
	c.readPiece(&ends{reads: [2]int{fd, -1}}, 0, make([]byte, 10))
	return c.unread
}
