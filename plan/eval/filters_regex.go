package eval

import (
	"regexp"
	"strings"
	"sync"
)

// patterns caches compiled regular expressions. Patterns are nearly always constants of a playbook; the bound is for
// those that are computed.
type patterns struct {
	mu       sync.Mutex
	compiled map[string]*regexp.Regexp
}

func (p *patterns) get(pattern string, ignoreCase, multiline bool) (*regexp.Regexp, error) {
	flags := ""
	if ignoreCase {
		flags += "i"
	}
	if multiline {
		flags += "m"
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if re, ok := p.compiled[pattern]; ok {
		return re, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		hint := ""
		if strings.Contains(reason, "(?=") || strings.Contains(reason, "(?!") || strings.Contains(reason, "(?<") {
			hint = "looking ahead and behind does not work here"
		}
		return nil, fault(Failed, hint, "the pattern is wrong: %s", reason)
	}
	if p.compiled == nil || len(p.compiled) >= 1000 {
		p.compiled = map[string]*regexp.Regexp{}
	}
	p.compiled[pattern] = re
	return re, nil
}

// goReplacement turns Python's \1 and \g<name> into Go's ${1} and ${name}.
func goReplacement(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '$':
			b.WriteString("$$")
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		case s[i+1] >= '0' && s[i+1] <= '9':
			end := i + 2
			if end < len(s) && s[end] >= '0' && s[end] <= '9' {
				end++
			}
			b.WriteString("${" + s[i+1:end] + "}")
			i = end - 1
		case strings.HasPrefix(s[i:], `\g<`) && strings.Contains(s[i:], ">"):
			end := i + strings.IndexByte(s[i:], '>')
			b.WriteString("${" + s[i+3:end] + "}")
			i = end
		case s[i+1] == '\\':
			b.WriteByte('\\')
			i++
		default:
			b.WriteByte('\\')
		}
	}
	return b.String()
}

func filterRegexReplace(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	re, err := c.engine.patterns.get(c.str(0, ""), c.flag(2), c.flag(3))
	if err != nil {
		return nil, err
	}
	limit, err := c.integer(4, 0)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = -1
	}
	template := goReplacement(c.str(1, ""))
	var b []byte
	last := 0
	for _, m := range re.FindAllStringSubmatchIndex(s, limit) {
		b = append(b, s[last:m[0]]...)
		b = re.ExpandString(b, template, s, m)
		last = m[1]
		if err := c.grow(len(b)); err != nil {
			return nil, err
		}
	}
	return string(append(b, s[last:]...)), nil
}

// filterRegexSearch gives the match, or null; with groups ('\1', '\g<name>') the list of their texts.
func filterRegexSearch(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	if c.has(0) {
		c.rest = append([]any{c.args[0]}, c.rest...)
	}
	if len(c.rest) == 0 {
		return nil, fault(Type, "", "needs the argument `pattern`")
	}
	re, err := c.engine.patterns.get(Text(c.rest[0]), c.flag(1), c.flag(2))
	if err != nil {
		return nil, err
	}
	m := re.FindStringSubmatch(s)
	if m == nil {
		return nil, nil
	}
	if len(c.rest) == 1 {
		return m[0], nil
	}
	var groups []any
	for _, g := range c.rest[1:] {
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(Text(g), `\`), "g<"), ">")
		i := re.SubexpIndex(name)
		if n, err := parseInt(name); i < 0 && err == nil {
			i = n
		}
		if i < 0 || i >= len(m) {
			return nil, fault(Failed, "", "the pattern has no group `%s`", Text(g))
		}
		groups = append(groups, m[i])
	}
	return groups, nil
}

func filterRegexFindall(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	re, err := c.engine.patterns.get(c.str(0, ""), c.flag(2), c.flag(1))
	if err != nil {
		return nil, err
	}
	found := []any{}
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		switch len(m) {
		case 1:
			found = append(found, m[0])
		case 2:
			found = append(found, m[1])
		default:
			found = append(found, stringList(m[1:]))
		}
	}
	return found, nil
}

func filterRegexEscape(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	return regexp.QuoteMeta(s), nil
}
