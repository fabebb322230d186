package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. Its methods are those of regexp.Regexp.
type Pattern struct {
	text    string
	compile func() *regexp.Regexp
}

// all are the patterns that packages have, for Check.
var all []*Pattern

// New is a pattern, which must be right. It is for variables of packages, and not for what a call makes.
func New(text string) *Pattern {
	p := &Pattern{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	all = append(all, p)
	return p
}

// Check compiles every pattern of the program, and returns how many there are. A test calls it: nothing else finds a wrong one in time.
func Check() int {
	for _, p := range all {
		p.compile()
	}
	return len(all)
}

// String is the text of the pattern.
func (p *Pattern) String() string { return p.text }

// Regexp is the pattern, compiled.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compile() }

// MatchString is that of regexp.Regexp.
func (p *Pattern) MatchString(s string) bool { return p.compile().MatchString(s) }

// Match is that of regexp.Regexp.
func (p *Pattern) Match(b []byte) bool { return p.compile().Match(b) }

// FindString is that of regexp.Regexp.
func (p *Pattern) FindString(s string) string { return p.compile().FindString(s) }

// FindStringIndex is that of regexp.Regexp.
func (p *Pattern) FindStringIndex(s string) []int { return p.compile().FindStringIndex(s) }

// FindStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compile().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of regexp.Regexp.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compile().FindStringSubmatchIndex(s)
}

// FindAllString is that of regexp.Regexp.
func (p *Pattern) FindAllString(s string, n int) []string { return p.compile().FindAllString(s, n) }

// FindAllStringIndex is that of regexp.Regexp.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compile().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compile().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is that of regexp.Regexp.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compile().FindAllStringSubmatchIndex(s, n)
}

// Find is that of regexp.Regexp.
func (p *Pattern) Find(b []byte) []byte { return p.compile().Find(b) }

// FindIndex is that of regexp.Regexp.
func (p *Pattern) FindIndex(b []byte) []int { return p.compile().FindIndex(b) }

// FindSubmatch is that of regexp.Regexp.
func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.compile().FindSubmatch(b) }

// FindSubmatchIndex is that of regexp.Regexp.
func (p *Pattern) FindSubmatchIndex(b []byte) []int { return p.compile().FindSubmatchIndex(b) }

// FindAllSubmatch is that of regexp.Regexp.
func (p *Pattern) FindAllSubmatch(b []byte, n int) [][][]byte {
	return p.compile().FindAllSubmatch(b, n)
}

// FindAllIndex is that of regexp.Regexp.
func (p *Pattern) FindAllIndex(b []byte, n int) [][]int { return p.compile().FindAllIndex(b, n) }

// ReplaceAllString is that of regexp.Regexp.
func (p *Pattern) ReplaceAllString(s, repl string) string {
	return p.compile().ReplaceAllString(s, repl)
}

// ReplaceAllLiteralString is that of regexp.Regexp.
func (p *Pattern) ReplaceAllLiteralString(s, repl string) string {
	return p.compile().ReplaceAllLiteralString(s, repl)
}

// ReplaceAllStringFunc is that of regexp.Regexp.
func (p *Pattern) ReplaceAllStringFunc(s string, repl func(string) string) string {
	return p.compile().ReplaceAllStringFunc(s, repl)
}

// ReplaceAll is that of regexp.Regexp.
func (p *Pattern) ReplaceAll(b, repl []byte) []byte { return p.compile().ReplaceAll(b, repl) }

// ReplaceAllFunc is that of regexp.Regexp.
func (p *Pattern) ReplaceAllFunc(b []byte, repl func([]byte) []byte) []byte {
	return p.compile().ReplaceAllFunc(b, repl)
}

// Split is that of regexp.Regexp.
func (p *Pattern) Split(s string, n int) []string { return p.compile().Split(s, n) }

// NumSubexp is that of regexp.Regexp.
func (p *Pattern) NumSubexp() int { return p.compile().NumSubexp() }

// SubexpNames is that of regexp.Regexp.
func (p *Pattern) SubexpNames() []string { return p.compile().SubexpNames() }

// SubexpIndex is that of regexp.Regexp.
func (p *Pattern) SubexpIndex(name string) int { return p.compile().SubexpIndex(name) }

// Expand is that of regexp.Regexp.
func (p *Pattern) Expand(dst, template, src []byte, match []int) []byte {
	return p.compile().Expand(dst, template, src, match)
}

// ExpandString is that of regexp.Regexp.
func (p *Pattern) ExpandString(dst []byte, template, src string, match []int) []byte {
	return p.compile().ExpandString(dst, template, src, match)
}
