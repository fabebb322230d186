package remote_test

import (
	"bytes"
	"io"
	"os"
	osexec "os/exec"
	"testing"

	"github.com/creack/pty"

	"moon/exec"
	"moon/exec/remote"
)

// A command that su runs in the foreground has the terminal, and with that ctrl+c. With -c it has none that could be opened.
func TestSuKeepsTheTerminal(t *testing.T) {
	help, err := osexec.Command("su", "--help").Output()
	if err != nil || !bytes.Contains(help, []byte("--session-command")) {
		t.Skip("no su here that could leave a command its terminal")
	}
	if os.Getuid() != 0 {
		t.Skip("only root may become nobody without a password")
	}
	argv := append(remote.Prefix(exec.Become{User: "nobody", Method: "su"}), "sh", "-c", "echo it is there > /dev/tty")
	terminal, err := pty.Start(osexec.Command(argv[0], argv[1:]...))
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	defer func() { _ = terminal.Close() }() // it was only read
	out, _ := io.ReadAll(terminal)          // ends with an error where the other end is closed
	if !bytes.Contains(out, []byte("it is there")) {
		t.Errorf("%q printed %q", argv, out)
	}
}
