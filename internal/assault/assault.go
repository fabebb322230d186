package assault

import (
	"fmt"
	"os"
	"testing"
)

// Variables of the environment by which the command steers the tests.
const (
	Mode = "ASSAULT"     // "all": try everything
	Log  = "ASSAULT_LOG" // the file for what was tried
)

// All says whether the tests should try everything, however long it takes, and not a sample.
func All() bool { return os.Getenv(Mode) == "all" }

// Rounds is how often to try: usually, in an assault, or, with -short, a tenth of what is usual.
func Rounds(usual, all int) int {
	switch {
	case All():
		return all
	case testing.Short():
		return (usual + 9) / 10
	}
	return usual
}

// Sampled reports whether to try the i-th of many things of a kind: all of them, but with -short only every n-th.
func Sampled(i, n int) bool { return !testing.Short() || i%n == 0 }

// Long skips a test of which -short has enough without it: another holds the same promise with less, or nothing but a rare mistake would
// break it.
func Long(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("takes long; make full has it")
	}
}

// Tried says that a test, or one of its subtests, tries an attack n times. If it fails, that is a failure of the attack:
// the command then refuses the row, however many of the tries it was.
func Tried(tb testing.TB, attack string, n int) {
	tb.Helper()
	path := os.Getenv(Log)
	if path == "" {
		return
	}
	tb.Cleanup(func() {
		failed := 0
		if tb.Failed() {
			failed = 1
		}
		if err := note(path, fmt.Sprintf("%s\t%d\t%d\t%s\n", attack, n, failed, tb.Name())); err != nil {
			tb.Errorf("write down what was tried: %v", err)
		}
	})
}

// note appends a line with one write, because subtests and test processes share the file.
func note(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
