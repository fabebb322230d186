package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"moon/internal/app"
	"moon/internal/assault"
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
				var c *emulator
				var dir string
				switch question {
				case "lines":
					c, dir = asking(t, "- shell: touch $DIR/given\n", "tui", "--ui", "lines")
					c.see("REVIEW", "\n>")
				default:
					c, dir = prompting(t, fmt.Sprintf("- {name: word, prompt: the word, private: %t}", question == "private"))
					if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
						t.Fatal(err)
					}
					c.see("the word:")
				}
				c.press("half")
				var err error
				switch how {
				case "SIGTERM":
					err = c.process.Signal(syscall.SIGTERM)
				case "SIGQUIT":
					err = c.process.Signal(syscall.SIGQUIT)
				case "SIGHUP":
					err = c.process.Signal(syscall.SIGHUP)
				case "ctrl+\\":
					c.press("\x1c")
				default:
					c.press("\x03")
				}
				if err != nil {
					t.Fatal(err)
				}
				want := app.ExitInterrupted
				if question == "lines" && how == "SIGHUP" {
					want = app.ExitStopped
				}
				if code, left := c.end(); code != want || strings.Contains(left, "goroutine") || strings.Contains(left, "SIGQUIT") {
					t.Errorf("exit %d, left in the terminal:\n%s", code, left)
				}
				c.restored()
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
				c, dir := asking(t, "- name: long\n  shell: trap '' INT TERM QUIT HUP; touch $DIR/begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done; seq 30000; touch $DIR/filled; sleep "+mark+"; sleep "+mark+"\n- shell: touch $DIR/after\n", "tui", "--ui", "lines", "-v")
				c.see("REVIEW", "\n>")
				c.press("approve all\r", "approved 2 steps.")
				c.press("run\r", "running.")
				until(t, dir+"/begun")
				thaw := func() {}
				if frozen {
					thaw = c.freeze()
					defer thaw()
				}
				if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
					t.Fatal(err)
				}
				until(t, dir+"/filled")
				wantSleepers(t, mark, 1)
				c.signalTwice(sig)
				wantSleepers(t, mark, 0)
				c.reaped()
				thaw()
				if code, left := c.end(); code != app.ExitInterrupted {
					t.Errorf("exit %d, left in the terminal:\n%s", code, left)
				}
				c.restored()
				if _, err := os.Stat(dir + "/after"); err == nil {
					t.Error("the run continued")
				}
			})
		}
	}
}
