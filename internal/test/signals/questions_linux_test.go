package signals

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// TestSignalsAtQuestions ends moon while it asks for something: with the terminal as it was found, and without running anything.
func TestSignalsAtQuestions(t *testing.T) {
	for _, question := range []string{"private", "open", "lines"} {
		for _, how := range []string{"SIGTERM", "SIGQUIT", "SIGHUP", "ctrl+\\", "ctrl+c"} {
			if question == "lines" && how == "ctrl+c" {
				continue // it asks what is meant by it
			}
			t.Run(question+" "+how, func(t *testing.T) {
				t.Parallel()
				var c *fakes.Terminal
				var dir string
				switch question {
				case "lines":
					c, dir = fakes.OpenPlaybook(t, "- shell: touch $DIR/given\n", "tui", "--ui", "lines")
					c.See("REVIEW", "\n>")
				default:
					c, dir = fakes.OpenPrompt(t, fmt.Sprintf("- {name: word, prompt: the word, private: %t}", question == "private"))
					if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
						t.Fatal(err)
					}
					c.See("the word:")
				}
				c.Press("half")
				var err error
				switch how {
				case "SIGTERM":
					err = c.Process.Signal(syscall.SIGTERM)
				case "SIGQUIT":
					err = c.Process.Signal(syscall.SIGQUIT)
				case "SIGHUP":
					err = c.Process.Signal(syscall.SIGHUP)
				case "ctrl+\\":
					c.Press("\x1c")
				default:
					c.Press("\x03")
				}
				if err != nil {
					t.Fatal(err)
				}
				want := app.ExitInterrupted
				if question == "lines" && how == "SIGHUP" {
					want = app.ExitStopped
				}
				if code, left := c.End(); code != want || strings.Contains(left, "goroutine") || strings.Contains(left, "SIGQUIT") {
					t.Errorf("exit %d, left in the terminal:\n%s", code, left)
				}
				c.CheckRestored()
				if _, err := os.Stat(dir + "/given"); err == nil {
					t.Error("something was run")
				}
			})
		}
	}
}

// TestTwoSignalsInLines ends a run in lines by two signals, while a step takes none of them: at once, and with all that it has started.
func TestTwoSignalsInLines(t *testing.T) {
	number := 0
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGQUIT} {
		for _, frozen := range []bool{false, true} {
			number++
			mark := fmt.Sprintf("9%d.%04d", os.Getpid(), number)
			t.Run(fmt.Sprint(sig, " frozen ", frozen), func(t *testing.T) {
				t.Parallel()
				if frozen {
					assault.Tried(t, "second signals where output is stuck", 1)
				}
				c, dir := fakes.OpenPlaybook(t, "- name: long\n  shell: trap '' INT TERM QUIT HUP; touch $DIR/begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done; seq 30000; touch $DIR/filled; sleep "+mark+"; sleep "+mark+"\n- shell: touch $DIR/after\n", "tui", "--ui", "lines", "-v")
				c.See("REVIEW", "\n>")
				c.Press("approve all\r", "approved 2 steps.")
				c.Press("run\r", "running.")
				fakes.AwaitFile(t, dir+"/begun")
				thaw := func() {}
				if frozen {
					thaw = c.Freeze()
					defer thaw()
				}
				if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
					t.Fatal(err)
				}
				fakes.AwaitFile(t, dir+"/filled")
				fakes.AwaitSleepers(t, mark, 1)
				c.SignalTwice(sig)
				fakes.AwaitSleepers(t, mark, 0)
				c.AwaitExit()
				thaw()
				if code, left := c.End(); code != app.ExitInterrupted {
					t.Errorf("exit %d, left in the terminal:\n%s", code, left)
				}
				c.CheckRestored()
				if _, err := os.Stat(dir + "/after"); err == nil {
					t.Error("the run continued")
				}
			})
		}
	}
}
