package process

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// modes follows what a program makes of a terminal that is nobody's to keep: the alternate screen, the mouse, a hidden
// cursor. A program that was killed leaves them on, and then they are undone for it.
type modes struct {
	on      []int  // private modes it has set, or taken away if they are on by themselves
	keypad  bool   // in application mode
	pushed  int    // modes of the keyboard
	colour  bool   // anything but a reset came last
	partial []byte // the beginning of a sequence
}

// usual are the private modes that a terminal has on by itself: lines wrap, the cursor is shown.
var usual = []int{7, 25}

const (
	escape     = 0x1b
	maxControl = 64 // of a sequence that is waited for
)

// readOutput reads what was printed. Sequences may come in pieces.
func (m *modes) readOutput(p []byte) {
	if len(m.partial) > 0 {
		p = append(m.partial, p...)
		m.partial = nil
	}
	for {
		i := bytes.IndexByte(p, escape)
		if i < 0 {
			return
		}
		p = p[i:]
		n := controlLen(p)
		if n == 0 {
			if len(p) <= maxControl {
				m.partial = bytes.Clone(p)
				return
			}
			n = 1
		}
		m.readControl(string(p[:n]))
		p = p[n:]
	}
}

// controlLen is the length of the sequence a text begins with, 0 if its end is not there yet.
func controlLen(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	if p[1] != '[' {
		return 2
	}
	for i := 2; i < len(p); i++ {
		if b := p[i]; b >= 0x40 && b <= 0x7e {
			return i + 1
		} else if b < 0x20 || b > 0x7e {
			// A control character within a sequence ends it, as terminals do.
			return i // it was broken off
		}
	}
	return 0
}

func (m *modes) readControl(s string) {
	switch {
	case s == "\x1bc": // the terminal is as it was switched on
		*m = modes{}
	case s == "\x1b=":
		m.keypad = true
	case s == "\x1b>":
		m.keypad = false
	case !strings.HasPrefix(s, "\x1b["):
	case strings.HasSuffix(s, "m") && !strings.ContainsAny(s, "?><"):
		m.colour = strings.Trim(s[2:len(s)-1], "0;") != ""
	case strings.HasPrefix(s, "\x1b[>") && strings.HasSuffix(s, "u"):
		m.pushed++
	case strings.HasPrefix(s, "\x1b[<") && strings.HasSuffix(s, "u"):
		m.pushed = max(m.pushed-1, 0)
	case strings.HasPrefix(s, "\x1b[?") && (strings.HasSuffix(s, "h") || strings.HasSuffix(s, "l")):
		for number := range strings.SplitSeq(s[3:len(s)-1], ";") {
			if n, err := strconv.Atoi(number); err == nil {
				m.setMode(n, strings.HasSuffix(s, "h"))
			}
		}
	}
}

func (m *modes) setMode(mode int, on bool) {
	m.on = slices.DeleteFunc(m.on, func(n int) bool { return n == mode })
	if on != slices.Contains(usual, mode) {
		m.on = append(m.on, mode)
	}
}

// undoSequence is what brings the terminal back, the last first; "" if the program has done it.
func (m *modes) undoSequence() string {
	var b strings.Builder
	for range m.pushed {
		b.WriteString("\x1b[<u")
	}
	for _, n := range slices.Backward(m.on) {
		end := "l"
		if slices.Contains(usual, n) {
			end = "h"
		}
		b.WriteString("\x1b[?" + strconv.Itoa(n) + end)
	}
	if m.keypad {
		b.WriteString("\x1b>")
	}
	if m.colour {
		b.WriteString("\x1b[m")
	}
	*m = modes{}
	return b.String()
}
