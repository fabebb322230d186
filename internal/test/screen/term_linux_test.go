package screen

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"moon/internal/test/fakes"
)

// TestFrozenTerminal stops the terminal, as ctrl+s or a line that is down does: the run goes on to its end without it.
func TestFrozenTerminal(t *testing.T) {
	c, dir := fakes.OpenPlaybook(t, `
- name: long
  shell: echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done; seq 1 100000
- name: after
  shell: touch $DIR/after
`, "tui")
	c.See("REVIEW")
	c.Press("Ac", "RUNNING", "begun")
	number, err := unix.IoctlGetInt(int(c.Keys.(*os.File).Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetInt(int(terminal.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	c.Press("?jk2")
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fakes.AwaitFile(t, dir+"/after")
	fakes.AwaitJournal(t, dir, "run.finished")
	if screen := c.Screen(); strings.Contains(screen, "DONE") {
		t.Errorf("the terminal was not stopped:\n%s", screen)
	}
	if err := unix.IoctlSetInt(int(terminal.Fd()), unix.TCXONC, unix.TCOON); err != nil {
		t.Fatal(err)
	}
	_ = terminal.Close() // or its end would never be seen
	c.See("DONE")
	c.Press("\x1b")
	c.SeeGone("Keys in")
	c.Press("q")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckClean()
}
