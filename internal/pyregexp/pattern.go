package pyregexp

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// MaxMatching is how long a pattern that backtracks may look through one text. Only one that has to try without end comes near.
const MaxMatching = 10 * time.Second

// ErrEndless is what came of a pattern that takes too long.
var ErrEndless = errors.New("the pattern takes too long on this text; make it simpler")

// Pattern is a regular expression for bytes, as Ansible's modules use them: \w, \d and \s are ASCII's.
type Pattern struct {
	plain        *regexp.Regexp
	backtracking *regexp2.Regexp
	text         string
}

// Compile reads a pattern. flags are i, m and s.
func Compile(text, flags string) (*Pattern, error) {
	translated, same := toGo(text)
	if same {
		if flags != "" {
			// Go takes flags at the beginning of the pattern.
			translated = "(?" + flags + ")" + translated
		}
		re, err := regexp.Compile(translated)
		if err == nil {
			return &Pattern{plain: re, text: text}, nil
		}
		return nil, errors.New(strings.Replace(reasonOf(err), "(?"+flags+")", "", 1))
	}
	re, err := Backtracking(text, flags, regexp2.RE2) // which has ASCII's classes
	if err != nil {
		return nil, err
	}
	return &Pattern{backtracking: re, text: text}, nil
}

// Backtracking reads a pattern for the matcher that backtracks.
func Backtracking(text, flags string, options regexp2.RegexOptions) (*regexp2.Regexp, error) {
	for flag, option := range map[string]regexp2.RegexOptions{"i": regexp2.IgnoreCase, "m": regexp2.Multiline, "s": regexp2.Singleline} {
		if strings.Contains(flags, flag) {
			options |= option
		}
	}
	// In the order of the text, as in Python; the library numbers named groups last otherwise.
	re, err := regexp2.Compile(toBacktracking(text), options, regexp2.OptionMaintainCaptureOrder())
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	// It backtracks: (a+)+b on a long row of a would not end.
	re.MatchTimeout = MaxMatching
	return re, nil
}

// reasonOf is what is wrong with a regular expression, without the package's prefix.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Code.String() + " in `" + e.Expr + "`"
	}
	return err.Error()
}

// String is the pattern as written.
func (p *Pattern) String() string { return p.text }

// Group gives the number of a group by its name, -1 if there is none.
func (p *Pattern) Group(name string) int {
	if p.plain != nil {
		return p.plain.SubexpIndex(name)
	}
	return p.backtracking.GroupNumberFromName(name)
}

// Groups is how many groups there are, without the whole.
func (p *Pattern) Groups() int {
	if p.plain != nil {
		return p.plain.NumSubexp()
	}
	return len(p.backtracking.GetGroupNumbers()) - 1
}

// Match reports whether the pattern matches anywhere in a text.
func (p *Pattern) Match(text string) (bool, error) {
	if p.plain != nil {
		return p.plain.MatchString(text), nil
	}
	found, err := p.backtracking.MatchString(text)
	if err != nil {
		return false, ErrEndless
	}
	return found, nil
}

// Matching is Match for what knows no errors: the first is kept, and nothing matches any more.
func (p *Pattern) Matching(wrong *error) func(text string) bool {
	return func(text string) bool {
		if *wrong != nil {
			return false
		}
		var found bool
		found, *wrong = p.Match(text)
		return found
	}
}

// Find is where the first match and its groups are, as regexp's functions with Index in their names return it; nil if there is none.
func (p *Pattern) Find(text string) ([]int, error) {
	all, err := p.FindAll(text, 1)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// FindAll is the same for all matches, up to the limit; a limit below 0 is none.
func (p *Pattern) FindAll(text string, limit int) (all [][]int, err error) {
	if p.plain != nil {
		return p.plain.FindAllStringSubmatchIndex(text, limit), nil
	}
	at := offsets(text)
	m, err := p.backtracking.FindStringMatch(text)
	for ; m != nil && err == nil && len(all) != limit; m, err = p.backtracking.FindNextMatch(m) {
		var where []int
		for _, g := range m.Groups() {
			if len(g.Captures) == 0 {
				where = append(where, -1, -1)
				continue
			}
			where = append(where, at[g.RuneIndex], at[g.RuneIndex+g.RuneLength])
		}
		all = append(all, where)
	}
	if err != nil {
		return nil, ErrEndless
	}
	return all, nil
}

// offsets are the bytes at which the characters of a text begin, and its end. What is not UTF-8 counts byte by byte.
func offsets(text string) []int {
	at := make([]int, 0, utf8.RuneCountInString(text)+1)
	for i := range text {
		at = append(at, i)
	}
	return append(at, len(text))
}
