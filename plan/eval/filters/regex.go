package filters

import (
	"regexp"
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/value"
)

func filterRegexReplace(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	re, err := c.CompilePattern(c.ArgText(0, ""), c.ArgTruth(2), c.ArgTruth(3))
	if err != nil {
		return nil, err
	}
	limit, err := c.ArgInt(4, 0)
	if err != nil {
		return nil, err
	}
	// In Python a count of 0 means all.
	if limit <= 0 {
		limit = -1
	}
	var b strings.Builder
	rest, err := re.Each(s, limit, func(before string, f *call.Match) error {
		text, err := re.Expand(c.ArgText(1, ""), f)
		if err != nil {
			return err
		}
		b.WriteString(before)
		b.WriteString(text)
		// Checked at each match: a short pattern may put a long text in many places.
		if err := c.Grow(b.Len()); err != nil {
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
func filterRegexSearch(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	// The pattern may be given by name, the groups only by place: it is put where they expect it.
	if c.Has(0) {
		c.Rest = append([]any{c.Args[0]}, c.Rest...)
	}
	if len(c.Rest) == 0 {
		return nil, value.Errorf(value.TypeError, "", "needs the argument `pattern`")
	}
	re, err := c.CompilePattern(value.Text(c.Rest[0]), c.ArgTruth(1), c.ArgTruth(2))
	if err != nil {
		return nil, err
	}
	m, err := re.Find(s, 0)
	if err != nil || m == nil {
		return nil, err
	}
	if len(c.Rest) == 1 {
		return m.Groups[0], nil
	}
	var groups []any
	for _, g := range c.Rest[1:] {
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(value.Text(g), `\`), "g<"), ">")
		i := re.GroupIndex(name)
		if i < 0 || i >= len(m.Groups) {
			return nil, value.Errorf(value.Failure, "", "the pattern has no group `%s`", value.Text(g))
		}
		if m.Missing[i] {
			groups = append(groups, formOf(c.Shared).noGroup)
			continue
		}
		groups = append(groups, m.Groups[i])
	}
	return groups, nil
}

func filterRegexFindall(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	// In Ansible findall has multiline before ignorecase, and the others have it behind.
	re, err := c.CompilePattern(c.ArgText(0, ""), c.ArgTruth(2), c.ArgTruth(1))
	if err != nil {
		return nil, err
	}
	all := []any{}
	_, err = re.Each(s, -1, func(_ string, f *call.Match) error {
		// Python gives the match, its only group, or a tuple of groups.
		switch len(f.Groups) {
		case 1:
			all = append(all, f.Groups[0])
		case 2:
			all = append(all, f.Groups[1])
		default:
			all = append(all, value.ListOf(f.Groups[1:]))
		}
		if err := c.Spend(1); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func filterRegexEscape(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	if c.ArgText(0, "python") == "posix_basic" {
		return regexp.QuoteMeta(s), nil
	}
	return formOf(c.Shared).escape(s), nil
}
