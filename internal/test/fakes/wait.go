package fakes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// AwaitEnd waits until the process that a file names has ended.
func AwaitEnd(t *testing.T, path string) {
	t.Helper()
	var pid int
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return
		}
	}
	t.Errorf("process %d of %s still runs", pid, path)
}

// ReadPrinted is what a step has printed, as it is stored.
func ReadPrinted(t *testing.T, dir, suffix string) string {
	t.Helper()
	files, err := filepath.Glob(dir + "/state/moon/runs/*/out/" + suffix)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files %s: %v", len(files), suffix, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// AwaitFile waits for a file.
func AwaitFile(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s never came", path)
}

// ExitCode is that of a program that was run.
func ExitCode(err error) int {
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as it comes from exec
		return exit.ExitCode()
	}
	return 0
}

// AwaitJournal waits until a run's journal holds a text.
func AwaitJournal(t *testing.T, dir, text string) {
	t.Helper()
	for end := time.Now().Add(Patience); ; time.Sleep(5 * time.Millisecond) {
		files, err := filepath.Glob(dir + "/state/moon/runs/*/journal.jsonl")
		if err != nil || len(files) != 1 {
			t.Fatalf("%d journals: %v", len(files), err)
		}
		if journal, err := os.ReadFile(files[0]); err != nil {
			t.Fatal(err)
		} else if strings.Contains(string(journal), text) {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%q is not in\n%s", text, journal)
		}
	}
}
