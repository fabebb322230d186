package call

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dlclark/regexp2/v2"

	"moon/internal/pyregexp"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// pattern is a regular expression: Go's in the step form, which takes no longer than its text is long; Python's in plays,
// whose patterns look ahead and behind and refer back.
type pattern struct {
	plain        *regexp.Regexp
	backtracking *regexp2.Regexp
}

// Match is one match: the text before it since the last one, and its groups, the whole first. A group that took no part is
// missing.
type Match struct {
	From, to int // in runes for Python's, in bytes for Go's
	Groups   []string
	Missing  []bool
}

// patterns caches compiled regular expressions. Patterns are nearly always constants of a playbook; the bound is for
// those that are computed.
type patterns struct {
	mu       sync.Mutex
	compiled map[string]*pattern
}

// CompilePattern compiles a text, in the language of the playbook.
func (s *Shared) CompilePattern(text string, ignoreCase, multiline bool) (*pattern, error) {
	flags := ""
	if ignoreCase {
		flags += "i"
	}
	if multiline {
		flags += "m"
	}
	key := flags + ":" + text
	p := &s.patterns
	p.mu.Lock()
	// Compiled under the lock: goroutines that want the same pattern would otherwise all compile it.
	defer p.mu.Unlock()
	if re, ok := p.compiled[key]; ok {
		return re, nil
	}
	re, err := s.manner().compile(text, flags)
	if err != nil {
		return nil, err
	}
	// Emptied as a whole: which patterns are used again is not known, and the bound is rarely reached.
	if p.compiled == nil || len(p.compiled) >= 1000 {
		p.compiled = map[string]*pattern{}
	}
	p.compiled[key] = re
	return re, nil
}

// compilePythonPattern compiles a pattern that may look ahead and behind, as Python's do. Its matching is bounded in time.
func compilePythonPattern(text, flags string) (*pattern, error) {
	re, err := pyregexp.Backtracking(text, flags, regexp2.None)
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "the pattern is wrong: %s", value.Sentence(err.Error()))
	}
	return &pattern{backtracking: re}, nil
}

func compileGoPattern(text, flags string) (*pattern, error) {
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		// The patterns of plays may do this, and users bring them along.
		hint := ""
		if strings.Contains(reason, "(?=") || strings.Contains(reason, "(?!") || strings.Contains(reason, "(?<") {
			hint = "looking ahead and behind does not work here"
		}
		return nil, value.Errorf(value.Failure, hint, "the pattern is wrong: %s", reason)
	}
	return &pattern{plain: re}, nil
}

// Find looks for the first match at or behind a place.
func (p *pattern) Find(s string, from int) (*Match, error) {
	if p.plain != nil {
		at := p.plain.FindStringSubmatchIndex(s[from:])
		if at == nil {
			return nil, nil
		}
		return plainMatch(s[from:], at, from), nil
	}
	return p.findRunes([]rune(s), from)
}

func plainMatch(s string, at []int, from int) *Match {
	f := &Match{From: from + at[0], to: from + at[1]}
	for i := 0; i < len(at); i += 2 {
		text := ""
		if at[i] >= 0 {
			text = s[at[i]:at[i+1]]
		}
		f.Groups, f.Missing = append(f.Groups, text), append(f.Missing, at[i] < 0)
	}
	return f
}

func (p *pattern) findRunes(runes []rune, from int) (*Match, error) {
	// The library counts characters, and so do positions in Python.
	m, err := p.backtracking.FindRunesMatchStartingAt(runes, from)
	if err != nil {
		return nil, value.Errorf(value.Failure, "make it simpler", "the pattern takes too long on this text")
	}
	if m == nil {
		return nil, nil
	}
	f := &Match{From: m.RuneIndex, to: m.RuneIndex + m.RuneLength}
	for _, g := range m.Groups() {
		missing := len(g.Captures) == 0
		text := ""
		if !missing {
			text = string(runes[g.RuneIndex : g.RuneIndex+g.RuneLength])
		}
		f.Groups, f.Missing = append(f.Groups, text), append(f.Missing, missing)
	}
	return f, nil
}

// Each calls do for the matches from left to right, up to the limit, with the text between them; limit < 0 is none. It
// gives the text behind the last.
func (p *pattern) Each(s string, limit int, do func(before string, f *Match) error) (rest string, err error) {
	// Go's own walk decides about empty matches there.
	if p.plain != nil {
		last := 0
		for _, at := range p.plain.FindAllStringSubmatchIndex(s, limit) {
			if err := do(s[last:at[0]], plainMatch(s, at, 0)); err != nil {
				return "", err
			}
			last = at[1]
		}
		return s[last:], nil
	}
	runes := []rune(s)
	last, from := 0, 0
	// Up to the end inclusive, where an empty match may stand.
	for n := 0; n != limit && from <= len(runes); n++ {
		f, err := p.findRunes(runes, from)
		if err != nil {
			return "", err
		}
		if f == nil {
			break
		}
		if err := do(string(runes[last:f.From]), f); err != nil {
			return "", err
		}
		// An empty match may follow another one at once, as in Python: .* on abc matches twice.
		last, from = f.to, f.to
		if f.From == f.to {
			from++
		}
	}
	return string(runes[last:]), nil
}

// GroupIndex gives the number of a group by its name or number, -1 if there is none.
func (p *pattern) GroupIndex(name string) int {
	// A number that is too large is for the caller to refuse: it knows the match.
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return n
	}
	if p.plain != nil {
		return p.plain.SubexpIndex(name)
	}
	return p.backtracking.GroupNumberFromName(name)
}

// Expand puts the groups of a match into a replacement as Python writes it: \1, \g<name>.
func (p *pattern) Expand(replacement string, f *Match) (string, error) {
	var b strings.Builder
	for i := 0; i < len(replacement); i++ {
		rest := replacement[i:]
		name, length := "", 0
		switch {
		case rest[0] != '\\' || len(rest) == 1:
			b.WriteByte(rest[0])
			continue
		case rest[1] >= '0' && rest[1] <= '9':
			length = 2
			// Two digits at most, as in Python: \10 is group 10.
			if len(rest) > 2 && rest[2] >= '0' && rest[2] <= '9' {
				length = 3
			}
			name = rest[1:length]
		case strings.HasPrefix(rest, `\g<`) && strings.Contains(rest, ">"):
			length = strings.IndexByte(rest, '>') + 1
			name = rest[3 : length-1]
		case rest[1] == '\\':
			b.WriteByte('\\')
			i++
			continue
		// Only in plays: Python reads escapes in replacements itself.
		case p.backtracking != nil && (rest[1] == 'n' || rest[1] == 't' || rest[1] == 'r'):
			b.WriteString(jinja.SimpleEscapes[rest[1]])
			i++
			continue
		default:
			b.WriteByte('\\')
			continue
		}
		n := p.GroupIndex(name)
		switch {
		case n >= 0 && n < len(f.Groups):
			b.WriteString(f.Groups[n])
		// Python fails, Go writes nothing: each form has its own.
		case p.backtracking != nil:
			return "", value.Errorf(value.Failure, "", "the pattern has no group `%s`", name)
		}
		i += length - 1
	}
	return b.String(), nil
}
