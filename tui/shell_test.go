package tui

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/tui/tuitest"
)

// fakeShell says what it is and reads a line, as a person's shell does.
type fakeShell struct {
	in  io.Reader
	out io.Writer
	end error
}

func (s *fakeShell) SetStdin(r io.Reader)  { s.in = r }
func (s *fakeShell) SetStdout(w io.Writer) { s.out = w }
func (s *fakeShell) SetStderr(io.Writer)   {}
func (s *fakeShell) Run() error {
	if s.out != nil {
		_, _ = fmt.Fprint(s.out, "a shell it is\r\n")
		buf := make([]byte, 1)
		for n := 1; n > 0 && buf[0] != 'x'; {
			n, _ = s.in.Read(buf)
		}
	}
	return s.end
}

func TestShell(t *testing.T) {
	var asked []int
	var refused error
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) {
		o.Shell = func(_ *plan.Plan, step int) (ExecCommand, error) {
			asked = append(asked, step)
			return &fakeShell{}, refused
		}
	}})
	s.press("!")
	s.has("select a step")
	s.press("j")
	s.on("install git")
	before := s.shows()
	s.press("!")
	if len(asked) != 1 || asked[0] != stepGit || len(s.cmds) != 1 {
		t.Errorf("asked for %v, then %v", asked, s.cmds)
	}
	s.Send(shellLeft{nil})
	if got := s.shows(); got != before {
		t.Errorf("the screen is not as before:\n%s\nwas\n%s", got, before)
	}
	s.Send(shellLeft{errors.New("zsh: command not found")})
	s.has("shell: zsh: command not found")
	refused = errors.New("there is no user bob")
	s.cmds = nil
	s.press("!")
	s.has("shell: there is no user bob")
	if len(s.cmds) != 0 {
		t.Errorf("a shell that was refused: %v", s.cmds)
	}
	if len(s.f.Sent) != 0 {
		t.Errorf("it sent %v", s.f.Sent)
	}
	s = newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.Shell = nil }})
	s.on("install git")
	s.press("!")
	s.has("no shell available")
}

// A shell is offered where something failed.
func TestShellIsOffered(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }, options: func(o *Options) {
		o.Shell = func(*plan.Plan, int) (ExecCommand, error) { return nil, nil }
	}})
	s.keys("A c")
	s.has("!  shell", "! shell")
}

// A shell in a real terminal: the screen makes room, the run goes on meanwhile, and the screen comes back and shows it. Then
// the mouse.
func TestShellAndMouseInATerminal(t *testing.T) {
	tty, keys, e := openTerminal(t, 100, 30)
	f := tuitest.NewEngine(devbox())
	l := newLive(f)
	go l.run()
	result := make(chan error, 1)
	go func() {
		result <- Run(t.Context(), Options{
			Plan: f.P, Feed: l.feed, Send: l.Take, Input: tty, Output: tty, Glyphs: "unicode",
			Shell: func(*plan.Plan, int) (ExecCommand, error) { return &fakeShell{}, nil },
		})
	}()
	e.waitFor("REVIEW", "1 needs attention")
	press(t, keys, "j!")
	e.waitFor("a shell it is")
	if e.alternate() {
		t.Error("the screen did not make room")
	}
	l.Send(events.Approve{Range: events.Range{To: len(f.P.Steps)}})
	l.Send(events.Continue{})
	press(t, keys, "x\r")
	e.waitFor("PAUSED to confirm")
	press(t, keys, "M")
	e.waitFor("devbox.yml  mouse")
	screen := strings.Split(e.screen(), "\n")
	for y, row := range screen {
		if strings.Contains(row, "3 Diff") {
			x := len([]rune(row[:strings.Index(row, "3 Diff")]))
			press(t, keys, fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
		}
	}
	e.waitFor("No change was recorded")
	press(t, keys, "q")
	e.waitFor("Quit?")
	press(t, keys, "k")
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestCopyOfScopes(t *testing.T) {
	var put []string
	var by []string
	s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) {
		o.Clipboard = func(text string) []string {
			put = append(put, text)
			return by
		}
	}})
	s.on("block: dotfiles")
	s.keys("y p")
	if want := "/dotfiles/clone the dotfiles\n/dotfiles/link .zshrc\n/dotfiles/rescue/restore the backup\n/dotfiles/always/remove the lock\n"; put[0] != want {
		t.Errorf("copied %q, want %q", put[0], want)
	}
	s.has(fmt.Sprintf("copied paths of its 4 steps, %d bytes", len(put[0])))
	if got := s.copiedText(); got != put[0] {
		t.Errorf("the terminal was given %q", got)
	}
	// tmux has told its terminal.
	by, s.cmds = []string{"tmux"}, nil
	s.keys("y y")
	if len(s.cmds) != 0 {
		t.Errorf("the terminal was told twice: %v", s.cmds)
	}
	s.keys("A c a c")
	s.on("devbox.yml")
	s.keys("y s")
	if text := put[len(put)-1]; !strings.Contains(text, "✓ 9 ok   ~ 5 changed") || !strings.Contains(text, "\nChanged\n") || strings.Contains(text, "\x1b") {
		t.Errorf("the summary is copied as\n%s", text)
	}
}

func TestCopyOfMuch(t *testing.T) {
	s := atOutput(t, 120, 40, numbered(200_000))
	s.keys("y o")
	s.has("copied the first", "many terminals take no more than 75 kB")
	if s.m.Message = ""; len(s.copiedText()) > copyLimit+100 {
		t.Error("more than the limit was copied")
	}
	s = atOutput(t, 120, 40, numbered(10_000))
	s.keys("y o")
	s.has("copied 10000 lines of output, 98.9 kB")
	s = atOutput(t, 120, 40, numbered(10))
	s.keys("y o")
	s.has("copied 10 lines of output, 70 bytes ")
}

// GNU screen passes on only what is wrapped for it.
func TestCopyInScreen(t *testing.T) {
	p := devbox()
	s := newScreen(t, setup{p: p, w: 120, h: 40})
	s.m.clip = newClipboard(nil, func(name string) string { return map[string]string{"STY": "1.tty"}[name] })
	s.on("install git")
	s.keys("y y")
	raw, ok := s.cmds[0].(tea.RawMsg)
	if got := fmt.Sprint(raw.Msg); !ok || got != "\x1bP\x1b]52;c;aW5zdGFsbCBnaXQ=\x07\x1b\\" {
		t.Errorf("got %q", got)
	}
	if newClipboard(nil, func(string) string { return "both" }).screen {
		t.Error("tmux in GNU screen is taken for GNU screen")
	}
}

// copiedText is what the terminal was given for its clipboard.
func (s *screen) copiedText() string {
	var b strings.Builder
	for _, msg := range s.cmds {
		fmt.Fprint(&b, msg)
	}
	return b.String()
}
