package sshtest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Keep gives the home of a server this program as moon's agent, as an earlier connection would have left it. It is brought there only by
// tests that show how: that takes longer than most of what they do there.
func (s *Server) Keep(tb testing.TB) {
	tb.Helper()
	name, err := keptName()
	check(tb, err)
	self, err := os.Executable()
	check(tb, err)
	kept := filepath.Join(s.Home, ".cache", "moon", name)
	check(tb, os.MkdirAll(kept, 0o700))
	info, err := os.Stat(self)
	check(tb, err)
	// One that others may write to would be refused there.
	if info.Mode()&0o022 == 0 && os.Link(self, filepath.Join(kept, "moon")) == nil {
		return
	}
	program, err := os.ReadFile(self)
	check(tb, err)
	check(tb, os.WriteFile(filepath.Join(kept, "moon"), program, 0o700))
}

// Kept names what a home holds as moon's agent.
func (s *Server) Kept(tb testing.TB) []string {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(s.Home, ".cache", "moon", "*", "moon"))
	check(tb, err)
	return names
}

// keptName is the directory of this program in the caches of machines like this one. The tests that bring it hold it to be the right one.
var keptName = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	system, err := osexec.Command("uname", "-sm").Output()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil))[:16] + "-" + strings.Join(strings.Fields(string(system)), "-"), nil
})
