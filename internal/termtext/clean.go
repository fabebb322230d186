package termtext

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	tabWidth = 8
	esc      = 0x1b
	reset    = "\x1b[0m"
	// maxSGR bounds a colour sequence: real ones have some twenty bytes.
	maxSGR = 64
)

// Clean makes a step's output fit for the screen. Of all control sequences only colours (SGR) pass, and a line that
// ends in colour is reset; a sequence that erases the rest of a line is dropped, since it comes with every coloured
// grep; anything else a terminal would act on is shown: ^[ for escape, ^G, \x9b, \u202e. Tabs become spaces. Of a
// line that rewrites itself with carriage returns only what could be seen last remains. What is not UTF-8 becomes
// U+FFFD. Newlines stay.
func Clean(text []byte) string {
	if printable(text) {
		return string(text)
	}
	var c cleaner
	c.grow(len(text))
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		if c.started {
			c.WriteByte('\n')
		}
		c.started = true
		c.line(line)
	}
	return c.String()
}

// Still is Clean for a place where lines stay where they are: sequences that move the cursor, erase, or turn modes of the
// terminal on and off are dropped, because nobody wants to read those of a progress bar.
func Still(text []byte) string {
	if printable(text) {
		return string(text)
	}
	c := cleaner{still: true}
	c.grow(len(text))
	c.line(text)
	return c.String()
}

// CleanName makes a name fit for the screen: as Clean, but without colours and on one line.
func CleanName(name string) string {
	if printable([]byte(name)) {
		return name
	}
	c := cleaner{plain: true}
	c.grow(len(name))
	c.line([]byte(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return r
	}, name)))
	return c.String()
}

// Printable8 reports whether eight bytes are printable ASCII, all at once: most output is.
func Printable8(eight uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	small := (eight - 0x20*ones) &^ eight                     // below a space
	del := ((eight ^ 0x7f*ones) - ones) & (eight ^ 0x80*ones) // equal to 0x7f
	return (eight|small|del)&tops == 0
}

func printable(text []byte) bool {
	for len(text) >= 8 && Printable8(binary.LittleEndian.Uint64(text)) {
		text = text[8:]
	}
	for _, b := range text {
		if b < 0x20 || b > 0x7e {
			return false
		}
	}
	return true
}

// cleaner builds one cleaned text.
type cleaner struct {
	strings.Builder
	plain   bool // no colours
	still   bool // movements are dropped
	started bool
	column  int
	styled  bool // a colour is in effect
}

func (c *cleaner) grow(n int) { c.Grow(n + n/8 + len(reset)) }

func (c *cleaner) line(text []byte) {
	c.column, c.styled = 0, false
	text = bytes.TrimRight(text, "\r")
	if i := bytes.LastIndexByte(text, '\r'); i >= 0 {
		if !c.plain {
			c.keepColour(text[:i])
		}
		text = text[i+1:]
	}
	for len(text) > 0 {
		text = text[c.next(text):]
	}
	if c.styled {
		c.WriteString(reset)
	}
}

// keepColour writes the colours that are in effect after a text that cannot be seen any more.
func (c *cleaner) keepColour(text []byte) {
	var kept []byte
	for {
		i := bytes.IndexByte(text, esc)
		if i < 0 {
			break
		}
		text = text[i:]
		n, final := csi(text)
		switch {
		case final != 'm':
			n = 1
		case isReset(text[:n]):
			kept = kept[:0]
		case len(kept) < maxSGR:
			kept = append(kept, text[:n]...)
		}
		text = text[n:]
	}
	c.Write(kept)
	c.styled = len(kept) > 0
}

// next writes the first character or sequence of the text and returns its length.
func (c *cleaner) next(text []byte) int {
	b := text[0]
	switch {
	case b == '\t':
		for n := tabWidth - c.column%tabWidth; n > 0; n-- {
			c.show(" ")
		}
		return 1
	case b == esc:
		return c.escape(text)
	case b < 0x20 || b == 0x7f:
		c.show("^" + string(rune(b^0x40)))
		return 1
	case b < utf8.RuneSelf:
		c.WriteByte(b)
		c.column++
		return 1
	}
	r, n := utf8.DecodeRune(text)
	switch {
	case r == utf8.RuneError && n == 1 && b < 0xa0, r >= 0x80 && r < 0xa0:
		c.show(fmt.Sprintf(`\x%02x`, text[n-1])) // C1, raw or encoded: the last byte is its number
	case hidden(r) && r <= 0xffff:
		c.show(fmt.Sprintf(`\u%04x`, r))
	case hidden(r):
		c.show(fmt.Sprintf(`\U%08x`, r))
	default:
		c.WriteRune(r)
		c.column += width(r)
	}
	return n
}

func (c *cleaner) show(ascii string) {
	c.WriteString(ascii)
	c.column += len(ascii)
}

func (c *cleaner) escape(text []byte) int {
	n, final := csi(text)
	switch {
	case final == 'm' && !c.plain:
		c.Write(text[:n])
		c.styled = !isReset(text[:n])
		return n
	case final == 'm', final == 'K':
		return n
	}
	if c.still {
		if n := movement(text); n > 0 {
			return n
		}
	}
	c.show("^[")
	return 1
}

// csi measures a control sequence with nothing but numbers for parameters, ESC [ 1 ; 2 m, and returns its last byte;
// 0 if the text begins with anything else.
func csi(text []byte) (n int, final byte) {
	if len(text) < 3 || text[1] != '[' {
		return 0, 0
	}
	for i, b := range text[2:min(len(text), maxSGR)] {
		switch {
		case b >= '0' && b <= '9', b == ';':
		case b >= 0x40 && b <= 0x7e:
			return i + 3, b
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// movement measures a sequence that moves the cursor (also to where it was), erases, scrolls, or changes a private mode; 0
// for any other.
func movement(text []byte) int {
	if len(text) > 1 && (text[1] == '7' || text[1] == '8') {
		return 2
	}
	if len(text) > 2 && text[2] == '?' {
		if n, final := csi(append([]byte{esc, '['}, text[3:min(len(text), maxSGR)]...)); final == 'h' || final == 'l' {
			return n + 1
		}
		return 0
	}
	n, final := csi(text)
	if final != 0 && bytes.IndexByte([]byte("ABCDEFGHJSTdfsu"), final) >= 0 {
		return n
	}
	return 0
}

func isReset(sgr []byte) bool { return len(bytes.Trim(sgr[2:len(sgr)-1], "0;")) == 0 }

// hidden reports characters that change how others are shown, or that hide text: bidirectional controls, line
// separators, tags, annotations and the byte order mark.
func hidden(r rune) bool {
	switch {
	case r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// width is near enough to place a tab stop.
func width(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
