package console

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// speaker prints lines, and knows what stands last in the terminal.
type speaker struct {
	w        *bufio.Writer
	redact   func(text string) string // nil: nothing is secret
	width    func() int               // of the terminal; nil: unknown
	terminal io.Writer                // nil: nothing rings
	lent     func(do func())          // something has the terminal while it runs
	person   bool                     // what is typed comes from a person

	prompted bool     // the prompt is the last thing in the terminal
	rest     []string // of a long list
	failure  error
}

// sayDecided says what was asked for in one line. What the engine refuses comes after it.
func (c *speaker) sayDecided(word string, n int, rest ...string) {
	c.say("%s", sentence(append([]string{word + " " + count(n, "step")}, rest...)...))
}

// say prints a line.
func (c *speaker) say(format string, args ...any) {
	if c.prompted {
		c.prompted = false
		fmt.Fprintln(c.w)
	}
	text := fmt.Sprintf(format, args...)
	if c.redact != nil { // before whoever writes it does, whose mask cannot be read aloud
		text = spoken.Replace(c.redact(text))
	}
	// After redacting: of a secret that is broken over two lines neither part would be found.
	for _, line := range wrapLine(text, c.lineWidth()) {
		fmt.Fprintln(c.w, line)
	}
}

// lineWidth is how many characters a line may have; 0: any number.
func (c *speaker) lineWidth() int {
	if c.width == nil {
		return 0
	}
	return c.width()
}

// wrapLine breaks a line between words: a terminal breaks in them, and what is read line by line is then no word at all.
func wrapLine(text string, width int) (lines []string) {
	if width < 20 { // nothing can be read in less
		return []string{text}
	}
	for utf8.RuneCountInString(text) > width {
		at, end, n := 0, 0, 0
		for i, r := range text {
			// Not within the indentation, which would give an empty line.
			if r == ' ' && strings.TrimSpace(text[:i]) != "" {
				at = i
			}
			if end = i; n == width {
				break
			}
			n++
		}
		if at == 0 {
			at = end // one word
		}
		lines = append(lines, strings.TrimRight(text[:at], " "))
		text = strings.TrimLeft(text[at:], " ")
	}
	return append(lines, text)
}

// flush shows what was said. Whoever reads it may be gone.
func (c *speaker) flush() {
	if err := c.w.Flush(); err != nil && c.failure == nil {
		c.failure = fmt.Errorf("say: %w", err)
	}
}

// page is how many lines are said at once: more cannot be listened to.
const page = 20

// sayList says lines, and keeps what does not fit a page for more.
func (c *speaker) sayList(lines []string) {
	if len(lines) > page+1 { // the last one is shorter than saying that there is one
		// A page is what can be listened to at once; the rest waits for `more`.
		lines, c.rest = lines[:page], lines[page:]
	} else {
		c.rest = nil
	}
	for _, line := range lines {
		c.say("%s", line)
	}
	if len(c.rest) > 0 {
		c.say("more continues: %s.", count(len(c.rest), "line"))
	}
}

func (c *speaker) sayMore(string) {
	if len(c.rest) == 0 {
		c.say("there is no more.")
		return
	}
	c.sayList(c.rest)
}

// lendTerminal gives the terminal away until whoever asked for it is done.
func (c *speaker) lendTerminal(do func()) {
	if c.prompted {
		c.prompted = false
		fmt.Fprintln(c.w)
	}
	// Or what was said would appear in the middle of what the program draws.
	c.flush()
	c.lent(do)
}

// errorLines says the first line of an error, and the last of the others.
func (c *speaker) errorLines(text string, most int) {
	head, rest := firstLine(text)
	c.say("  %s", clean(head))
	for _, line := range rest[max(len(rest)-most, 0):] {
		c.say("  %s", clean(line))
	}
}

func (c *speaker) ringBell() {
	if c.terminal != nil {
		// The bell goes past the buffer, and what it is about must be there first.
		c.flush()
		_, _ = io.WriteString(c.terminal, "\a") // a bell that cannot ring does not matter
	}
}
