package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"moon/exec/process"
	"moon/exec/spec"
)

// Foreground is a program that gets the terminal: an editor or a shell. It belongs to moon's own process group, so
// that it can read the keyboard.
type Foreground struct {
	argv           []string
	dir            string
	env            []string // nil: moon's own
	notice         []string // lines shown before it
	shell          bool     // how it ends says nothing
	as             *syscall.Credential
	stdin          io.Reader
	stdout, stderr io.Writer
}

// SetStdin says where the program reads; /dev/null otherwise.
func (f *Foreground) SetStdin(r io.Reader) { f.stdin = r }

// SetStdout says where it writes.
func (f *Foreground) SetStdout(w io.Writer) { f.stdout = w }

// SetStderr says where its errors go.
func (f *Foreground) SetStderr(w io.Writer) { f.stderr = w }

// Args is the command, for people and tests.
func (f *Foreground) Args() []string { return slices.Clone(f.argv) }

// Run runs the program until it ends. Its error names the program.
func (f *Foreground) Run() error { return f.RunUntil(context.Background()) }

// RunUntil runs the program, and hangs up on it when the context ends.
func (f *Foreground) RunUntil(ctx context.Context) error {
	path, err := osexec.LookPath(f.argv[0])
	if err != nil {
		return fmt.Errorf("%s: command not found", f.argv[0])
	}
	cmd := osexec.Cmd{Path: path, Args: f.argv, Dir: f.dir, Env: f.env, Stdin: f.stdin, Stdout: f.stdout, Stderr: f.stderr}
	tell(f.stdout, f.notice)
	run := func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		defer context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGHUP) })()
		return cmd.Wait()
	}
	if f.shell {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: f.as}
		if tty := process.OwnTerminal(); tty != nil {
			run = func() error { return process.InFront(&cmd, tty) }
		}
	}
	if err := run(); err != nil && (!f.shell || !errors.As(err, new(*osexec.ExitError))) {
		return fmt.Errorf("%s: %w", f.argv[0], err)
	}
	return nil
}

// Shell is the user's own shell in a directory: $SHELL, or sh.
func Shell(dir string) *Foreground {
	shell := os.Getenv("SHELL")
	if shell == "" {
		shell = process.ShellPath
	}
	return &Foreground{argv: []string{shell}, dir: dir}
}

// editorStyle is how an editor is given a line, and to wait until the file is closed.
type editorStyle struct {
	wait  []string // added unless one of them is there
	colon bool     // file:line
	flag  string   // before the file
	lines string   // flag that takes the line, for editors with one of their own
	plus  bool     // +line
}

var plusStyle = editorStyle{plus: true}

var codeStyle = editorStyle{wait: []string{"--wait", "-w"}, colon: true, flag: "-g"}

// editors are recognised by the base name of the command. Any other is given the file alone.
var editors = map[string]editorStyle{
	"vi": plusStyle, "vim": plusStyle, "nvim": plusStyle, "view": plusStyle, "nano": plusStyle, "pico": plusStyle, "emacs": plusStyle,
	"emacsclient": plusStyle, "kak": plusStyle, "micro": plusStyle, "joe": plusStyle, "jed": plusStyle, "mg": plusStyle, "ne": plusStyle,
	"gvim": {plus: true, wait: []string{"-f", "--nofork"}}, "mvim": {plus: true, wait: []string{"-f", "--nofork"}},
	"code": codeStyle, "code-insiders": codeStyle, "codium": codeStyle, "vscodium": codeStyle, "cursor": codeStyle, "windsurf": codeStyle,
	"subl": {wait: []string{"-w", "--wait"}, colon: true}, "sublime_text": {wait: []string{"-w", "--wait"}, colon: true},
	"hx": {colon: true}, "helix": {colon: true},
	"zed": {wait: []string{"--wait", "-w"}, colon: true}, "zeditor": {wait: []string{"--wait", "-w"}, colon: true},
	"mate": {wait: []string{"-w", "--wait"}, lines: "-l"}, "kate": {wait: []string{"-b", "--block"}, lines: "-l"},
	"idea": {wait: []string{"--wait"}, lines: "--line"}, "goland": {wait: []string{"--wait"}, lines: "--line"},
}

// Editor is $VISUAL, or $EDITOR, or vi, or nano, opening a file at a line; 0 is no line in particular. It waits
// until the file is closed.
func Editor(file string, line int) *Foreground {
	words := editorWords()
	// A plus is how editors take a line number.
	if strings.HasPrefix(file, "-") || strings.HasPrefix(file, "+") {
		file = "./" + file // not an option
	}
	style, ok := editors[filepath.Base(words[0])]
	if ok && len(style.wait) > 0 && !slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(style.wait, w) }) {
		words = append(words, style.wait[0])
	}
	switch {
	case !ok || line <= 0:
		words = append(words, file)
	case style.plus:
		words = append(words, "+"+strconv.Itoa(line), file)
	case style.lines != "":
		words = append(words, style.lines, strconv.Itoa(line), file)
	default:
		if style.flag != "" && !slices.Contains(words, style.flag) {
			words = append(words, style.flag)
		}
		words = append(words, file+":"+strconv.Itoa(line))
	}
	return &Foreground{argv: words}
}

func editorWords() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words, err := spec.Words(os.Getenv(name)); err == nil && len(words) > 0 {
			return words
		}
	}
	for _, name := range []string{"vi", "nano"} {
		if _, err := osexec.LookPath(name); err == nil {
			return []string{name}
		}
	}
	return []string{"vi"}
}
