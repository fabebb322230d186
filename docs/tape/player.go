package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// How long a viewer sees the screen after a key, and how long the tape waits for a text.
const (
	pressing = 450 * time.Millisecond
	typing   = 120 * time.Millisecond
	sampling = 120 * time.Millisecond // between two shots of what goes on by itself
	patience = 30 * time.Second
)

// scratch is a fixed place, because it is seen in the pictures.
const scratch = "/tmp/moon-demo"

// player is a terminal in which a tape is played.
type player struct {
	w, h  int
	home  string
	env   []string
	cmd   *exec.Cmd
	tty   *os.File
	ended chan error

	mu   sync.Mutex
	vt   *vt.Emulator
	last time.Time // of the last byte

	reel   []frame
	stills []still
}

// shot is a screen, cell by cell.
type shot [][]uv.Cell

// frame is a shot that is seen for a while.
type frame struct {
	shot
	lasts time.Duration
}

// still is a picture of one screen.
type still struct {
	name string
	shot shot
}

func newPlayer() (*player, error) {
	if err := os.RemoveAll(scratch); err != nil {
		return nil, err
	}
	if err := os.Mkdir(scratch, 0o700); err != nil { // somebody else's would not have gone away
		return nil, err
	}
	p := &player{w: 100, h: 30, home: filepath.Join(scratch, "home")}
	if err := os.Mkdir(p.home, 0o700); err != nil {
		return nil, err
	}
	return p, build(".", "moon")
}

// build builds a program of a directory, for the tape to run.
func build(dir, name string) error {
	b := exec.CommandContext(context.Background(), "go", "build", "-C", dir, "-o", filepath.Join(scratch, name), ".")
	b.Stderr = os.Stderr
	return b.Run()
}

func (p *player) close() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.tty.Close()
	}
	_ = os.RemoveAll(scratch)
}

// run starts a command in the terminal.
func (p *player) run(words []string) error {
	if len(words) == 0 || p.tty != nil {
		return errors.New("a tape runs one command")
	}
	if words[0] == "moon" {
		words[0] = filepath.Join(scratch, "moon")
	}
	p.cmd = exec.CommandContext(context.Background(), words[0], words[1:]...)
	p.cmd.Dir = p.home
	p.cmd.Env = append([]string{
		"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC",
		"SHELL=/bin/sh",
	}, p.env...)
	p.vt = vt.NewEmulator(p.w, p.h)
	var err error
	if p.tty, err = pty.StartWithSize(p.cmd, &pty.Winsize{Rows: uint16(p.h), Cols: uint16(p.w)}); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(p.tty, p.vt) }() // what the terminal answers
	p.ended = make(chan error, 1)
	go func() {
		_, _ = io.Copy(p, p.tty) // it ends with the command
		p.ended <- p.cmd.Wait()
	}()
	return nil
}

// Write takes what the command wrote.
func (p *player) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	return p.vt.Write(b)
}

func (p *player) send(keys string) error {
	_, err := io.WriteString(p.tty, keys)
	p.settle()
	return err
}

// settle waits until the screen is quiet, or moves by itself.
func (p *player) settle() {
	began := time.Now()
	for quiet := false; !quiet && time.Since(began) < time.Second; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		quiet = time.Since(p.last) > 80*time.Millisecond && time.Since(began) > 80*time.Millisecond
		p.mu.Unlock()
	}
}

// wait waits for a text. Watched, the time until then is seen.
func (p *player) wait(text string, watched bool) error {
	for began, seen := time.Now(), time.Now(); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		screen := p.vt.String()
		p.mu.Unlock()
		found := strings.Contains(screen, text)
		if watched && (found || time.Since(seen) >= sampling) {
			p.show(max(time.Since(seen), sampling))
			seen = time.Now()
		}
		switch {
		case found:
			return nil
		case time.Since(began) > patience:
			return fmt.Errorf("it is not on the screen:\n%s", screen)
		}
	}
}

// end waits until the command has ended.
func (p *player) end() error {
	if p.tty == nil {
		return errors.New("nothing was run")
	}
	select {
	case err := <-p.ended:
		return err
	case <-time.After(patience):
		return fmt.Errorf("it did not end:\n%s", p.vt.String())
	}
}

// shot is what is on the screen now.
func (p *player) shot() shot {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := make(shot, p.h)
	for y := range rows {
		rows[y] = make([]uv.Cell, p.w)
		for x := range rows[y] {
			if c := p.vt.CellAt(x, y); c != nil {
				rows[y][x] = *c
			}
		}
	}
	return rows
}

// show lets what is on the screen be seen for a while. What does not change is one frame.
func (p *player) show(lasts time.Duration) {
	s := p.shot()
	if n := len(p.reel); n > 0 && equal(p.reel[n-1].shot, s) {
		p.reel[n-1].lasts += lasts
		return
	}
	p.reel = append(p.reel, frame{s, lasts})
}

func equal(a, b shot) bool {
	for y := range a {
		if !equalRow(a[y], b[y]) {
			return false
		}
	}
	return true
}

func equalRow(a, b []uv.Cell) bool {
	for x := range a {
		if !a[x].Equal(&b[x]) {
			return false
		}
	}
	return true
}
