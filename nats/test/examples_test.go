package test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestConsumerInGo builds the example of the documentation, and has it say how runs have ended, before it began and after.
func TestConsumerInGo(t *testing.T) {
	page := string(readFile(t, "../../docs/nats-events.md"))
	_, code, ok := strings.Cut(page, "### A consumer in Go\n\n```go\n")
	code, _, also := strings.Cut(code, "```")
	if !ok || !also {
		t.Fatal("the page has no consumer in Go")
	}
	s := newSite(t)
	source, program := filepath.Join(s.dir, "main.go"), filepath.Join(s.dir, "consumer")
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.do("a", 0, "run", s.playbook("- shell: 'true'\n"))
	c := exec.Command(program)
	c.Env = append(os.Environ(), "MOON_NATS="+s.url)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	said := make(chan string, 10)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said <- lines.Text()
		}
	}()
	first := s.id()
	for _, want := range []string{" done", " failed"} {
		select {
		case got := <-said:
			if !strings.HasSuffix(got, want) || want == " done" && got != first+want {
				t.Errorf("it says %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("it never says%s", want)
		}
		if want == " done" {
			s.do("a", 1, "run", s.playbook("- shell: 'false'\n"))
		}
	}
}
