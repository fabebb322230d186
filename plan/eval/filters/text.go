package filters

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

func textFilters() map[string]*Filter {
	return map[string]*Filter{
		"upper":         {Run: onText(strings.ToUpper)},
		"lower":         {Run: onText(strings.ToLower)},
		"capitalize":    {Run: onText(capitalized)},
		"title":         {Run: onText(titled)},
		"trim":          {Params: jinja.Takes("chars?"), Run: filterTrim},
		"replace":       {Params: jinja.Takes("old new count?"), Run: filterReplace},
		"split":         {Params: jinja.Takes("separator? maxsplit?"), Run: filterSplit},
		"format":        {Params: jinja.Takes("..."), Run: filterFormat},
		"indent":        {Params: jinja.Takes("width? first? blank?"), Run: filterIndent},
		"center":        {Params: jinja.Takes("width?"), Run: filterCenter},
		"quote":         {Run: filterQuote},
		"wordcount":     {Run: func(c *call.Input) (any, error) { return len(strings.Fields(c.Print(c.Value))), nil }},
		"regex_replace": {Params: jinja.Takes("pattern replacement? ignorecase? multiline? count?"), Run: filterRegexReplace},
		"regex_search":  {Params: jinja.Takes("* pattern ignorecase? multiline?"), Run: filterRegexSearch},
		"regex_findall": {Params: jinja.Takes("regex multiline? ignorecase?"), Run: filterRegexFindall},
		"regex_escape":  {Params: jinja.Takes("re_type?"), Run: filterRegexEscape},
		"comment":       {Params: commentParams, Run: filterComment},
		"urlencode":     {Run: filterURLEncode},
	}
}

func capitalized(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + strings.ToLower(s[n:])
}

// titled begins every word with a capital; a word begins after a space or one of Jinja's opening signs.
func titled(s string) string {
	begins := true
	return strings.Map(func(r rune) rune {
		was := begins
		begins = unicode.IsSpace(r) || strings.ContainsRune("-([{<", r)
		if was {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func filterTrim(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	if !c.Has(0) || c.Args[0] == nil {
		return strings.TrimSpace(s), nil
	}
	return strings.Trim(s, c.ArgText(0, "")), nil
}

func filterReplace(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	count, err := c.ArgInt(2, -1)
	if err != nil {
		return nil, err
	}
	old, replacement := c.ArgText(0, ""), c.ArgText(1, "")
	n := strings.Count(s, old)
	if count >= 0 {
		n = min(n, count)
	}
	// By division: the product may not fit into an int.
	if n > 0 && len(replacement) > value.MaxText/n {
		return nil, call.TooMuchText()
	}
	if err := c.Grow(len(s) + n*len(replacement)); err != nil {
		return nil, err
	}
	return strings.Replace(s, old, replacement, count), nil
}

func filterSplit(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	limit, err := c.ArgInt(1, -1)
	if err != nil {
		return nil, err
	}
	return splitText(s, c.Arg(0), limit)
}

// splitText is Python's str.split: without a separator it splits at runs of white space.
func splitText(s string, separator any, limit int) (any, error) {
	var parts []string
	switch {
	case separator == nil && limit < 0:
		parts = strings.Fields(s)
	case separator == nil:
		rest := strings.TrimLeftFunc(s, unicode.IsSpace)
		for rest != "" && len(parts) < limit {
			i := strings.IndexFunc(rest, unicode.IsSpace)
			if i < 0 {
				break
			}
			parts = append(parts, rest[:i])
			rest = strings.TrimLeftFunc(rest[i:], unicode.IsSpace)
		}
		if rest != "" {
			parts = append(parts, rest) // with the white space at its end, as in Python
		}
	case value.Text(separator) == "":
		return nil, value.Errorf(value.TypeError, "", "needs a separator that is not empty")
	case limit < 0:
		parts = strings.Split(s, value.Text(separator))
	default:
		// Python limits the splits, Go the parts.
		parts = strings.SplitN(s, value.Text(separator), limit+1)
	}
	return value.ListOf(parts), nil
}

func filterFormat(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	args := c.Rest
	if c.Named != nil {
		// Python's % takes names from a single map.
		args = []any{c.Named}
	}
	v, e := c.FormatPercent(s, args, c.Named != nil)
	if e != nil {
		return nil, e
	}
	return v, nil
}

func filterIndent(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	indent, isText := c.Arg(0).(string)
	if !isText {
		width, err := c.ArgInt(0, 4)
		if err != nil {
			return nil, err
		}
		// Every line gets it, so it is bounded more tightly than the width of a single text.
		if width > 1000 {
			return nil, value.Errorf(value.Failure, "", "the width %d is too large", width)
		}
		indent = strings.Repeat(" ", max(width, 0))
	}
	lines := strings.Split(s, "\n")
	if err := c.Grow(len(s) + len(lines)*len(indent)); err != nil {
		return nil, err
	}
	for i, line := range lines {
		// Jinja leaves the first line and empty lines as they are unless asked to.
		if i == 0 && !c.ArgTruth(1) || line == "" && !c.ArgTruth(2) {
			continue
		}
		lines[i] = indent + line
	}
	return strings.Join(lines, "\n"), nil
}

func filterCenter(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	width, fill, err := readPadding(c, 80, " ")
	if err != nil {
		return nil, err
	}
	space := max(width-utf8.RuneCountInString(s), 0)
	left := space/2 + space&width&1 // where Python puts the odd one
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, space-left), nil
}

// filterQuote makes one word for a POSIX shell.
func filterQuote(c *call.Input) (any, error) {
	s, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(s, 0) {
		return nil, value.Errorf(value.Failure, "", "a shell word cannot contain a null byte")
	}
	return formOf(c.Shared).quote(s), nil
}

// filterURLEncode makes text a part of a path, and a map or a list of pairs a query.
func filterURLEncode(c *call.Input) (any, error) {
	var list []any
	switch v := c.Value.(type) {
	case map[string]any, *value.Dict:
		list = value.Pairs(v)
	case []any:
		list = v
	default:
		// In a path a space is %20 and a slash stays; in a query below, + and %2F.
		text := strings.ReplaceAll(url.QueryEscape(c.Print(v)), "+", "%20")
		return strings.ReplaceAll(text, "%2F", "/"), nil
	}
	parts := make([]string, len(list))
	for i, item := range list {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			return nil, value.Errorf(value.TypeError, "", "needs text, a map or a list of pairs")
		}
		parts[i] = url.QueryEscape(c.Print(pair[0])) + "=" + url.QueryEscape(c.Print(pair[1]))
	}
	return strings.Join(parts, "&"), nil
}
