package filters

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"

	"moon/internal/pyregexp"
	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Filters that make text fit: into a number of characters, into lines, into a unit.

func fittingFilters() map[string]*Filter {
	return map[string]*Filter{
		"filesizeformat": {Params: jinja.Takes("binary?"), Run: filterFileSize},
		"truncate":       {Params: jinja.Takes("length? killwords? end? leeway?"), Run: filterTruncate},
		"wordwrap":       {Params: jinja.Takes("width? break_long_words? wrapstring? break_on_hyphens?"), Run: filterWordWrap},
	}
}

func filterFileSize(c *call.Input) (any, error) {
	v := c.Value
	if s, isText := v.(string); isText {
		if parsed, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			v = parsed
		}
	}
	n, ok := value.NumberOf(v)
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "needs a number, not %s", value.KindOf(c.Value))
	}
	base, letters := 1000.0, "kMGTPEZY"
	unit := "B"
	if c.ArgTruth(0) {
		base, letters, unit = 1024, "KMGTPEZY", "iB"
	}
	bytes := value.Float(n)
	switch {
	// Jinja writes these two out.
	case bytes == 1:
		return "1 Byte", nil
	case bytes < base:
		return fmt.Sprintf("%.0f Bytes", math.Trunc(bytes)), nil
	}
	i := 0
	for i < len(letters)-1 && bytes >= math.Pow(base, float64(i+2)) {
		i++
	}
	return fmt.Sprintf("%.1f %c%s", base*bytes/math.Pow(base, float64(i+2)), letters[i], unit), nil
}

// filterTruncate cuts a text that is longer than length and leeway.
func filterTruncate(c *call.Input) (any, error) {
	length, err := c.ArgInt(0, 255)
	if err != nil {
		return nil, err
	}
	leeway, err := c.ArgInt(3, 5)
	if err != nil {
		return nil, err
	}
	text, end := []rune(c.Print(c.Value)), c.ArgText(2, "...")
	keep := length - utf8.RuneCountInString(end)
	switch {
	case keep < 0:
		return nil, value.Errorf(value.Failure, "", "expected length >= %d, got %d", utf8.RuneCountInString(end), length)
	case leeway < 0:
		return nil, value.Errorf(value.Failure, "", "expected leeway >= 0, got %d", leeway)
	// A text that is only a little too long stays whole, as Jinja has it since 2.9.
	case len(text)-leeway <= length:
		return string(text), nil
	}
	cut := string(text[:keep])
	if i := strings.LastIndexByte(cut, ' '); i >= 0 && !c.ArgTruth(1) {
		cut = cut[:i]
	}
	return cut + end, nil
}

// filterWordWrap breaks lines as Python's textwrap does.
func filterWordWrap(c *call.Input) (any, error) {
	width, err := c.ArgInt(0, 79)
	if err != nil {
		return nil, err
	}
	if width <= 0 {
		return nil, value.Errorf(value.Failure, "", "the width must be above 0, not %d", width)
	}
	text, newline := c.Print(c.Value), "\n"
	if err := c.Grow(len(text)); err != nil {
		return nil, err
	}
	if c.Arg(2) != nil {
		newline = c.ArgText(2, "")
	}
	w := wrapper{width: width, breakWords: !c.Has(1) || c.ArgTruth(1), hyphens: !c.Has(3) || c.ArgTruth(3)}
	// Each line by itself: Jinja keeps the breaks that are there, which textwrap alone would not.
	for line := range strings.Lines(text) {
		if err := w.paragraph(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); err != nil {
			return nil, err
		}
	}
	if err := c.Grow(len(text) + len(w.lines)*len(newline)); err != nil {
		return nil, err
	}
	return strings.Join(w.lines, newline), nil
}

// wrapper is Python's textwrap.TextWrapper, as far as wordwrap uses it.
type wrapper struct {
	width               int
	breakWords, hyphens bool
	lines               []string
}

// The pieces that a line may be broken between, as textwrap has them: white space, em-dashes, words with hyphens.
var wordPieces = sync.OnceValue(func() *regexp2.Regexp {
	const inWord, letter = `[\w!"'&.,?]`, `[^\d\W]`
	re := regexp2.MustCompile(`[\t\n\v\f\r ]+|(?<=`+inWord+`)-{2,}(?=\w)|`+
		`[^\t\n\v\f\r ]+?(?:-(?:(?<=`+letter+`{2}-)|(?<=`+letter+`-`+inWord+`-))(?=`+
		letter+`-?`+letter+`)|(?=[\t\n\v\f\r ]|\z)|(?<=`+inWord+`)(?=-{2,}\w))`, regexp2.None)
	re.MatchTimeout = pyregexp.MaxMatching
	return re
})

// chunks cuts a line into pieces. Without hyphens only white space separates words.
func (w *wrapper) chunks(line string) ([]string, error) {
	if !w.hyphens {
		var all []string
		for line != "" {
			// White space is a piece as well: it is kept within a line and dropped only where one breaks.
			isSpace := unicode.IsSpace(rune(line[0]))
			i := strings.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) != isSpace })
			if i < 0 {
				i = len(line)
			}
			all, line = append(all, line[:i]), line[i:]
		}
		return all, nil
	}
	var all []string
	m, err := wordPieces().FindStringMatch(line)
	for ; m != nil && err == nil; m, err = wordPieces().FindNextMatch(m) {
		all = append(all, m.String())
	}
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "the text takes too long to wrap")
	}
	return all, nil
}

// paragraph adds the lines of one line of the text; an empty one is one line.
func (w *wrapper) paragraph(text string) error {
	chunks, err := w.chunks(text)
	if err != nil {
		return err
	}
	begin := len(w.lines)
	// What does not fit into a line at all is cut, or stands on a line of its own.
	for len(chunks) > 0 {
		if len(w.lines) > begin && isBlank(chunks[0]) { // what breaks a line is not at the beginning of the next
			chunks = chunks[1:]
		}
		var line []string
		free := w.width
		for len(chunks) > 0 {
			end, n := runesUpTo(chunks[0], free)
			if end < len(chunks[0]) {
				break
			}
			free -= n
			line, chunks = append(line, chunks[0]), chunks[1:]
		}
		if len(chunks) > 0 {
			if end, _ := runesUpTo(chunks[0], w.width); end < len(chunks[0]) {
				line, chunks = w.takeLong(line, chunks, free)
			}
		}
		if len(line) > 0 && isBlank(line[len(line)-1]) {
			line = line[:len(line)-1]
		}
		if len(line) > 0 {
			w.lines = append(w.lines, strings.Join(line, ""))
		}
	}
	// An empty line of the text is kept.
	if len(w.lines) == begin {
		w.lines = append(w.lines, "")
	}
	return nil
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// runesUpTo gives where the first n characters of s end, and how many there are. It looks at no more of s: a word of a
// megabyte is cut into lines of one character.
func runesUpTo(s string, n int) (end, count int) {
	for count < n && end < len(s) {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
		count++
	}
	return end, count
}

// takeLong puts as much of a word that fits into no line as there is space for: nothing, if there is none.
func (w *wrapper) takeLong(line, chunks []string, free int) (taken, rest []string) {
	word := chunks[0]
	if !w.breakWords {
		// Too long, but alone: a line must take something, or this would not end.
		if len(line) == 0 {
			return append(line, word), chunks[1:]
		}
		return line, chunks
	}
	end, _ := runesUpTo(word, free)
	if i := strings.LastIndexByte(word[:end], '-'); w.hyphens && i > 0 && strings.Trim(word[:i], "-") != "" {
		end = i + 1 // behind the last hyphen, if there is more than hyphens before it
	}
	chunks[0] = word[end:]
	return append(line, word[:end]), chunks
}
