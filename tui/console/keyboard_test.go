package console

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// TestPieces reads lines that come in pieces, many at once, and without an end.
func TestPieces(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k, err := newKeyboard(r)
	if err != nil {
		t.Fatal(err)
	}
	defer k.closeKeyboard()
	for _, piece := range []string{"app", "rove ", "all\nrun\n\nwhere\nqu", "it"} {
		if _, err := io.WriteString(w, piece); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	for _, want := range []string{"approve all", "run", "", "where", "quit"} {
		if got, ok := <-k.lines; !ok || got != want {
			t.Errorf("got %q, %t, and not %q", got, ok, want)
		}
	}
	if got, ok := <-k.lines; ok {
		t.Errorf("then came %q", got)
	}
}

// TestLentTerminal leaves what is typed to whoever has the terminal, and reads on afterwards.
func TestLentTerminal(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	defer master.Close()
	defer slave.Close()
	k, err := newKeyboard(slave)
	if err != nil {
		t.Fatal(err)
	}
	defer k.closeKeyboard()
	for range 20 {
		k.lendTerminal(func() {
			io.WriteString(master, "for it\n")
			buf := make([]byte, 100)
			if n, err := slave.Read(buf); err != nil || string(buf[:n]) != "for it\n" {
				t.Errorf("it got %q, %v", buf[:n], err)
			}
		})
		io.WriteString(master, "for us\n")
		if got := <-k.lines; got != "for us" {
			t.Errorf("we got %q", got)
		}
	}
	io.WriteString(master, "\x04") // ctrl-d
	if got := <-k.lines; got != endOfInput {
		t.Errorf("ctrl-d gave %q", got)
	}
	io.WriteString(master, "still here\n")
	if got := <-k.lines; got != "still here" {
		t.Errorf("then came %q", got)
	}
}

// TestCloseKeyboard ends reading from a terminal at which nobody types, and waits for nobody who reads lines.
func TestCloseKeyboard(t *testing.T) {
	for _, typed := range []string{"", "unread\n"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, typed)
		k, err := newKeyboard(r)
		if err != nil {
			t.Fatal(err)
		}
		k.closeKeyboard()
		for range k.lines { // it is closed
		}
		r.Close()
		w.Close()
	}
}

// TestHidden shows nothing of what is typed, but to whoever has the terminal meanwhile; and leaves it as it was.
func TestHidden(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	defer master.Close()
	defer slave.Close()
	k, err := newKeyboard(slave)
	if err != nil {
		t.Fatal(err)
	}
	k.ours = func() bool { return true } // it is the terminal of no process here
	shows := func() bool {
		now, err := unix.IoctlGetTermios(int(slave.Fd()), getTermios)
		if err != nil {
			t.Fatal(err)
		}
		return now.Lflag&unix.ECHO != 0
	}
	before, err := term.GetState(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	k.hideTyped(true)
	if shows() {
		t.Error("it shows what is typed")
	}
	k.lendTerminal(func() {
		if !shows() {
			t.Error("a program does not show what is typed for it")
		}
	})
	if shows() {
		t.Error("it shows what is typed after a program had it")
	}
	if err := term.Restore(int(slave.Fd()), before); err != nil { // as a shell does that stops moon
		t.Fatal(err)
	}
	k.ours = func() bool { return false }
	if k.hideTyped(true); !shows() {
		t.Error("it changes the terminal of somebody else")
	}
	k.ours = func() bool { return true }
	k.hideTyped(true)
	if shows() {
		t.Error("it shows what is typed after it was stopped")
	}
	k.closeKeyboard()
	after, err := term.GetState(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(*after) != fmt.Sprint(*before) {
		t.Errorf("it was left as %+v, not %+v", after, before)
	}
}

// TestTypedAheadOfSecret types before a secret is asked for, a line and a half: the terminal shows that, so none of it is an answer.
func TestTypedAheadOfSecret(t *testing.T) {
	for range 50 { // whether the reader has it already is up to the scheduler
		master, slave, err := pty.Open()
		if err != nil {
			t.Skip("no pseudo terminals here:", err)
		}
		k, err := newKeyboard(slave)
		if err != nil {
			t.Fatal(err)
		}
		k.ours = func() bool { return true }
		if _, err := io.WriteString(master, "too early\nhalf a li"); err != nil {
			t.Fatal(err)
		}
		echo := make([]byte, len("too early\r\nhalf a li"))
		if _, err := io.ReadFull(master, echo); err != nil { // the terminal has it, and has shown it
			t.Fatal(err)
		}
		k.hideTyped(true)
		if _, err := io.WriteString(master, "swordfish\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-k.lines; got != "swordfish" {
			t.Fatalf("the secret is %q", got)
		}
		k.hideTyped(false)
		if _, err := io.WriteString(master, "shown\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-k.lines; got != "shown" {
			t.Fatalf("then came %q", got)
		}
		k.closeKeyboard()
		_, _ = master.Close(), slave.Close()
	}
}
