package fakes

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// AwaitQuestion waits until a line is read from the terminal that is not shown: what an earlier question has left there looks the same.
func (c *Terminal) AwaitQuestion() {
	c.T.Helper()
	for end := time.Now().Add(Patience); ; time.Sleep(5 * time.Millisecond) {
		state, err := unix.IoctlGetTermios(int(c.Keys.(*os.File).Fd()), unix.TCGETS)
		if err != nil {
			c.T.Fatal(err)
		}
		if state.Lflag&unix.ICANON != 0 && state.Lflag&unix.ECHO == 0 {
			return
		}
		if time.Now().After(end) {
			c.T.Fatalf("nothing is asked:\n%s", c.Screen())
		}
	}
}

// Echoes reports whether the terminal shows what is typed.
func (c *Terminal) Echoes() bool {
	c.T.Helper()
	state, err := unix.IoctlGetTermios(int(c.Keys.(*os.File).Fd()), unix.TCGETS)
	if err != nil {
		c.T.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// Freeze lets the terminal take nothing, as ctrl+s does, until thaw is called.
func (c *Terminal) Freeze() (thaw func()) {
	c.T.Helper()
	number, err := unix.IoctlGetInt(int(c.Keys.(*os.File).Fd()), unix.TIOCGPTN)
	if err != nil {
		c.T.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		c.T.Fatal(err)
	}
	if err := unix.IoctlSetInt(int(terminal.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		c.T.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := unix.IoctlSetInt(int(terminal.Fd()), unix.TCXONC, unix.TCOON); err != nil {
			c.T.Error(err)
		}
		_ = terminal.Close() // or its end would never be seen
	})
}

// AwaitExit waits for the end of the process, whatever its terminal still holds.
func (c *Terminal) AwaitExit() {
	c.T.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		if len(state) == 0 || bytes.Contains(state, []byte(") Z ")) {
			return
		}
		if time.Now().After(end) {
			c.T.Fatal("moon is still there")
		}
	}
}
