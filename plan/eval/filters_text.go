package eval

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

func textFilters() map[string]*filter {
	return map[string]*filter{
		"upper":         {run: onText(strings.ToUpper)},
		"lower":         {run: onText(strings.ToLower)},
		"capitalize":    {run: onText(capitalized)},
		"title":         {run: onText(titled)},
		"trim":          {params: jinja.Takes("chars?"), run: filterTrim},
		"replace":       {params: jinja.Takes("old new count?"), run: filterReplace},
		"split":         {params: jinja.Takes("separator? maxsplit?"), run: filterSplit},
		"format":        {params: jinja.Takes("..."), run: filterFormat},
		"indent":        {params: jinja.Takes("width? first? blank?"), run: filterIndent},
		"center":        {params: jinja.Takes("width?"), run: filterCenter},
		"quote":         {run: filterQuote},
		"wordcount":     {run: func(c *input) (any, error) { return len(strings.Fields(c.print(c.value))), nil }},
		"regex_replace": {params: jinja.Takes("pattern replacement? ignorecase? multiline? count?"), run: filterRegexReplace},
		"regex_search":  {params: jinja.Takes("* pattern ignorecase? multiline?"), run: filterRegexSearch},
		"regex_findall": {params: jinja.Takes("regex multiline? ignorecase?"), run: filterRegexFindall},
		"regex_escape":  {params: jinja.Takes("re_type?"), run: filterRegexEscape},
		"comment":       {params: jinja.Takes("style?"), run: filterComment},
		"urlencode":     {run: filterURLEncode},
	}
}

func onText(f func(string) string) func(c *input) (any, error) {
	return func(c *input) (any, error) {
		s, err := c.text()
		if err != nil {
			return nil, err
		}
		return f(s), nil
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

func filterTrim(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	if !c.has(0) || c.args[0] == nil {
		return strings.TrimSpace(s), nil
	}
	return strings.Trim(s, c.str(0, "")), nil
}

func filterReplace(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	count, err := c.integer(2, -1)
	if err != nil {
		return nil, err
	}
	old, replacement := c.str(0, ""), c.str(1, "")
	n := strings.Count(s, old)
	if count >= 0 {
		n = min(n, count)
	}
	if n > 0 && len(replacement) > value.MaxText/n {
		return nil, errTooMuchText()
	}
	if err := c.grow(len(s) + n*len(replacement)); err != nil {
		return nil, err
	}
	return strings.Replace(s, old, replacement, count), nil
}

func filterSplit(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	limit, err := c.integer(1, -1)
	if err != nil {
		return nil, err
	}
	return splitText(s, c.arg(0), limit)
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
			parts = append(parts, strings.TrimRightFunc(rest, unicode.IsSpace))
		}
	case value.Text(separator) == "":
		return nil, value.Errorf(value.TypeError, "", "needs a separator that is not empty")
	case limit < 0:
		parts = strings.Split(s, value.Text(separator))
	default:
		parts = strings.SplitN(s, value.Text(separator), limit+1)
	}
	return value.ListOf(parts), nil
}

func filterFormat(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	args := c.rest
	if c.named != nil {
		args = []any{c.named}
	}
	v, e := c.formatted(s, args, c.named != nil)
	if e != nil {
		return nil, e
	}
	return v, nil
}

func filterIndent(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	indent, isText := c.arg(0).(string)
	if !isText {
		width, err := c.integer(0, 4)
		if err != nil {
			return nil, err
		}
		if width > 1000 {
			return nil, value.Errorf(value.Failure, "", "the width %d is too large", width)
		}
		indent = strings.Repeat(" ", max(width, 0))
	}
	lines := strings.Split(s, "\n")
	if err := c.grow(len(s) + len(lines)*len(indent)); err != nil {
		return nil, err
	}
	for i, line := range lines {
		if i == 0 && !c.flag(1) || line == "" && !c.flag(2) {
			continue
		}
		lines[i] = indent + line
	}
	return strings.Join(lines, "\n"), nil
}

func filterCenter(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	width, fill, err := c.padding(80, " ")
	if err != nil {
		return nil, err
	}
	space := max(width-utf8.RuneCountInString(s), 0)
	left := space/2 + space&width&1 // where Python puts the odd one
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, space-left), nil
}

// filterQuote makes one word for a POSIX shell.
func filterQuote(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(s, 0) {
		return nil, value.Errorf(value.Failure, "", "a shell word cannot contain a null byte")
	}
	if c.engine.Python {
		return pythonQuote(s), nil
	}
	if quoted, err := syntax.Quote(s, syntax.LangPOSIX); err == nil {
		return quoted, nil
	}
	// Quote refuses control characters for POSIX, though single quotes hold them.
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", nil
}

// pythonQuote is shlex.quote.
func pythonQuote(s string) string {
	safe := func(r rune) bool {
		return r < utf8.RuneSelf && (isAlphanumeric(byte(r)) || strings.ContainsRune("@%+=:,./-_", r))
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func filterComment(c *input) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	prefix := map[string]string{"plain": "# ", "c": "// ", "erlang": "% "}[c.str(0, "plain")]
	if prefix == "" {
		return nil, value.Errorf(value.TypeError, "", "knows the styles `plain`, `c` and `erlang`, not `%s`", c.str(0, ""))
	}
	bare := strings.TrimSpace(prefix)
	lines := append([]string{""}, append(strings.Split(s, "\n"), "")...)
	for i, line := range lines {
		if lines[i] = prefix + line; line == "" {
			lines[i] = bare
		}
	}
	return strings.Join(lines, "\n"), nil
}

// formatted is Python's % on a string: %s %d %i %f %x %o %e %g %c %r %%, with flags, width, precision and names. The
// names are those of a map that is the only argument. lenient allows arguments that the format does not use.
func (r *rendering) formatted(pattern string, list []any, lenient bool) (any, *value.Error) {
	var named map[string]any
	if len(list) == 1 {
		named, _ = value.MapOf(list[0])
	}
	var b strings.Builder
	used := 0
	for {
		before, rest, found := strings.Cut(pattern, "%")
		b.WriteString(before)
		if !found {
			break
		}
		verb, tail, err := takeVerb(rest)
		if err != nil {
			return nil, err
		}
		pattern = tail
		if verb.letter == '%' {
			b.WriteByte('%')
			continue
		}
		var v any
		switch {
		case verb.name != "":
			val, ok := named[verb.name]
			if !ok {
				return nil, value.Errorf(value.Failure, "", "the format needs a value `%s`", verb.name)
			}
			v = val
		case used >= len(list):
			return nil, value.Errorf(value.Failure, "", "the format has more `%%` than values")
		default:
			v = list[used]
			used++
		}
		s, err := r.verbText(verb, v)
		if err != nil {
			return nil, err
		}
		if err := r.grow(b.Len() + len(s)); err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	if !lenient && used < len(list) {
		return nil, value.Errorf(value.Failure, "", "the format has fewer `%%` than values")
	}
	return b.String(), nil
}

// formatVerb is one %-5.2f of a format.
type formatVerb struct {
	name   string
	spec   string // flags, width and precision
	letter byte
}

func takeVerb(s string) (v formatVerb, rest string, err *value.Error) {
	if strings.HasPrefix(s, "(") {
		i := strings.IndexByte(s, ')')
		if i < 0 {
			return v, "", value.Errorf(value.Failure, "", "the format has a `%%(` without `)`")
		}
		v.name, s = s[1:i], s[i+1:]
	}
	n := 0
	for n < len(s) && strings.IndexByte("+-# 0123456789.", s[n]) >= 0 {
		n++
	}
	v.spec = s[:n]
	if tooWide(v.spec) {
		return v, "", value.Errorf(value.Failure, "", "the format `%%%s` is too wide", v.spec)
	}
	if n == len(s) {
		return v, "", value.Errorf(value.Failure, "write `%%` for a percent sign", "the format ends in `%%`")
	}
	v.letter = s[n]
	return v, s[n+1:], nil
}

// verbText is one value as a verb of a format has it.
func (r *rendering) verbText(v formatVerb, val any) (string, *value.Error) {
	switch v.letter {
	case 's':
		return fmt.Sprintf("%"+v.spec+"s", r.print(val)), nil
	case 'r', 'a':
		return fmt.Sprintf("%"+v.spec+"s", r.printQuoted(val)), nil
	case 'c':
		return fmt.Sprintf("%"+v.spec+"s", value.Text(val)), nil
	}
	n, ok := value.NumberOf(val)
	if !ok {
		return "", value.Errorf(value.TypeError, "", "`%%%c` needs a number, not %s", v.letter, value.KindOf(val))
	}
	switch v.letter {
	case 'd', 'i', 'u':
		i, isInt := n.(int)
		if !isInt {
			i = int(value.Float(n))
		}
		return fmt.Sprintf("%"+v.spec+"d", i), nil
	case 'x', 'X', 'o':
		i, isInt := n.(int)
		if !isInt {
			return "", value.Errorf(value.TypeError, "", "`%%%c` needs a whole number", v.letter)
		}
		return fmt.Sprintf("%"+v.spec+string(v.letter), i), nil
	case 'f', 'F', 'e', 'E', 'g', 'G':
		return fmt.Sprintf("%"+v.spec+string(v.letter), value.Float(n)), nil
	}
	return "", value.Errorf(value.Failure, "write `%%` for a percent sign", "the format has an unknown `%%%c`", v.letter)
}

// filterURLEncode makes text a part of a path, and a map or a list of pairs a query.
func filterURLEncode(c *input) (any, error) {
	var list []any
	switch v := c.value.(type) {
	case map[string]any, *value.Dict:
		list = value.Pairs(v)
	case []any:
		list = v
	default:
		text := strings.ReplaceAll(url.QueryEscape(c.print(v)), "+", "%20")
		return strings.ReplaceAll(text, "%2F", "/"), nil
	}
	parts := make([]string, len(list))
	for i, item := range list {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			return nil, value.Errorf(value.TypeError, "", "needs text, a map or a list of pairs")
		}
		parts[i] = url.QueryEscape(c.print(pair[0])) + "=" + url.QueryEscape(c.print(pair[1]))
	}
	return strings.Join(parts, "&"), nil
}
