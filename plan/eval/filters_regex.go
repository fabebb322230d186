package eval

import (
	"regexp"
	"strings"

	"moon/plan/eval/value"
)

func filterRegexReplace(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	re, err := c.engine.pattern(c.str(0, ""), c.flag(2), c.flag(3))
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
	var b strings.Builder
	rest, err := re.each(s, limit, func(before string, f *found) error {
		text, err := re.expand(c.str(1, ""), f)
		if err != nil {
			return err
		}
		b.WriteString(before)
		b.WriteString(text)
		if err := c.grow(b.Len()); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.String() + rest, nil
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
		return nil, value.Errorf(value.TypeError, "", "needs the argument `pattern`")
	}
	re, err := c.engine.pattern(value.Text(c.rest[0]), c.flag(1), c.flag(2))
	if err != nil {
		return nil, err
	}
	m, err := re.find(s, 0)
	if err != nil || m == nil {
		return nil, err
	}
	if len(c.rest) == 1 {
		return m.groups[0], nil
	}
	var groups []any
	for _, g := range c.rest[1:] {
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(value.Text(g), `\`), "g<"), ">")
		i := re.group(name)
		if i < 0 || i >= len(m.groups) {
			return nil, value.Errorf(value.Failure, "", "the pattern has no group `%s`", value.Text(g))
		}
		if m.missing[i] && c.engine.Python {
			groups = append(groups, nil)
			continue
		}
		groups = append(groups, m.groups[i])
	}
	return groups, nil
}

func filterRegexFindall(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	re, err := c.engine.pattern(c.str(0, ""), c.flag(2), c.flag(1))
	if err != nil {
		return nil, err
	}
	all := []any{}
	_, err = re.each(s, -1, func(_ string, f *found) error {
		switch len(f.groups) {
		case 1:
			all = append(all, f.groups[0])
		case 2:
			all = append(all, f.groups[1])
		default:
			all = append(all, value.ListOf(f.groups[1:]))
		}
		if err := c.spend(1); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func filterRegexEscape(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	if !c.engine.Python || c.str(0, "python") == "posix_basic" {
		return regexp.QuoteMeta(s), nil
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}
