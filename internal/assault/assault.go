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

// Rounds is how often to try: usually, or in an assault.
func Rounds(usual, all int) int {
	if All() {
		return all
	}
	return usual
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
