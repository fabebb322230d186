// Tape plays a tape: a text that says which keys to press in a terminal, and what must be on its screen before the next.
// It runs the real moon in a scratch home and makes the pictures of the documentation: one of each screen that the tape
// names, one that moves, and a recording (an asciinema cast).
//
//	tape ──▶ player ──keys──▶ moon in a pseudo terminal ──▶ emulator ──▶ shots ──▶ stills, moving picture, cast
//
// A tape waits for texts and never for time, so it breaks where the screen has changed, and says at which line.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	out := flag.String("o", "docs/pictures", "the directory of the pictures")
	tape := flag.String("tape", "docs/tape/demo.tape", "the tape")
	recording := flag.String("show", "", "a recording to look at in this terminal")
	flag.Parse()
	if *recording != "" {
		if err := show(os.Stdout, *recording); err != nil {
			fmt.Fprintln(os.Stderr, "tape:", err)
			os.Exit(1)
		}
		return
	}
	if err := play(*tape, *out); err != nil {
		fmt.Fprintln(os.Stderr, "tape:", err)
		os.Exit(1)
	}
}

// play plays a tape from its beginning to its end, and writes the pictures when it has not broken.
func play(tape, out string) error {
	text, err := os.ReadFile(tape)
	if err != nil {
		return err
	}
	p, err := newPlayer()
	if err != nil {
		return err
	}
	defer p.close()
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := p.do(word, strings.TrimSpace(rest)); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", tape, i+1, line, err)
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	if len(p.reel) == 0 {
		return errors.New("the tape shows nothing")
	}
	return p.write(out, strings.TrimSuffix(filepath.Base(tape), ".tape"))
}

// do does what one line of a tape says.
func (p *player) do(word, rest string) error {
	if p.tty == nil && (word == "wait" || word == "watch" || word == "press" || word == "type" || word == "hold" || word == "still") {
		return errors.New("nothing was run")
	}
	switch word {
	case "size":
		_, err := fmt.Sscan(rest, &p.w, &p.h)
		return err
	case "env":
		p.env = append(p.env, rest)
		return nil
	case "build": // another program than moon: of a directory, and its name
		dir, name, _ := strings.Cut(rest, " ")
		return build(dir, name)
	case "copy":
		from, to, _ := strings.Cut(rest, " ")
		return os.CopyFS(filepath.Join(p.home, to), os.DirFS(from))
	case "run":
		return p.run(strings.Fields(rest))
	case "wait":
		return p.wait(rest, false)
	case "watch":
		return p.wait(rest, true)
	case "type":
		for _, r := range rest {
			if err := p.send(string(r)); err != nil {
				return err
			}
			p.show(typing)
		}
		return nil
	case "press":
		for name := range strings.FieldsSeq(rest) {
			key, err := keyOf(name)
			if err != nil {
				return err
			}
			if err := p.send(key); err != nil {
				return err
			}
			p.show(pressing)
		}
		return nil
	case "hold":
		seconds, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			return err
		}
		p.show(time.Duration(seconds * float64(time.Second)))
		return nil
	case "still":
		// A still shows what remains once nothing moves, however slow the machine is.
		p.settle()
		p.stills = append(p.stills, still{rest, p.shot()})
		return nil
	}
	return fmt.Errorf("there is no %q", word)
}

var keys = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "space": " ", "backspace": "\x7f", "up": "\x1b[A", "down": "\x1b[B",
	"right": "\x1b[C", "left": "\x1b[D",
}

func keyOf(name string) (string, error) {
	if key, ok := keys[name]; ok {
		return key, nil
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok && len(letter) == 1 {
		return string(letter[0] & 0x1f), nil
	}
	if len([]rune(name)) != 1 {
		return "", fmt.Errorf("there is no key %q", name)
	}
	return name, nil
}
