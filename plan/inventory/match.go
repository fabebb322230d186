package inventory

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"moon/internal/pattern"
	"moon/internal/suggest"
)

// NoMatch says which parts of a pattern have matched nothing. The hosts that the other parts have matched are good all the same.
type NoMatch struct {
	Parts []string
	Hints []string // for each: what may have been meant, or ""
}

func (e *NoMatch) Error() string {
	said := make([]string, len(e.Parts))
	for i, part := range e.Parts {
		said[i] = fmt.Sprintf("no host or group matches `%s`", part)
		if e.Hints[i] != "" {
			said[i] += "; " + e.Hints[i]
		}
	}
	return strings.Join(said, "; ")
}

// Match gives the hosts that a pattern stands for, each once: parts with `,` or `:` between them are put together in their order,
// then those with `&` in front leave what is also in them, and those with `!` take theirs away. A part is a name of a host or group,
// a glob, a regular expression after `~`, or one of these but the last with [n] or [from:to] behind it. Hosts of a group come in the
// order of the inventory. The error is a *NoMatch, with hosts, or says what is wrong with the pattern.
func (inv *Inventory) Match(pattern string) ([]*Host, error) {
	parts, err := takeApart(pattern)
	if err != nil {
		return nil, err
	}
	return inv.matchParts(parts)
}

// Limit leaves those of the hosts that a limit (-l) has too. Its grammar is that of patterns; @FILE stands for the lines of a file. The
// error is as that of Match.
func (inv *Inventory) Limit(hosts []*Host, limit string, read func(file string) ([]byte, error)) ([]*Host, error) {
	parts, err := takeApart(limit)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, part := range parts {
		file, ok := strings.CutPrefix(part, "@")
		if !ok {
			all = append(all, part)
			continue
		}
		text, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("the limit %s cannot be read: %s", part, reasonOf(err))
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	within, err := inv.matchParts(all)
	in := hostSet(within)
	// The order is that of the hosts, and not that of the limit.
	return slices.DeleteFunc(slices.Clone(hosts), func(h *Host) bool { return !in[h] }), err
}

func hostSet(hosts []*Host) map[*Host]bool {
	m := make(map[*Host]bool, len(hosts))
	for _, h := range hosts {
		m[h] = true
	}
	return m
}

var ipv6 = pattern.New(`^[!&]?(?:[0-9a-fA-F.]*:){2,}[0-9a-fA-F.]*$`)

// takeApart finds the parts of a pattern. In brackets a colon is that of a range, in an address of IPv6 one of its own, and in a
// regular expression it may mean anything, so that only a comma ends one there.
func takeApart(pattern string) (parts []string, err error) {
	for _, text := range splitCommas(pattern) {
		text = strings.TrimSpace(text)
		bare := strings.TrimLeft(text, "!&")
		switch {
		// A colon means something else in regular expressions and IPv6 addresses.
		case text == "":
		case strings.HasPrefix(bare, "~") || ipv6.MatchString(text) && strings.Contains(text, "::") ||
			strings.Count(text, ":") == 7 && ipv6.MatchString(text):
			parts = append(parts, text)
		default:
			more, err := splitColons(text)
			if err != nil {
				return nil, err
			}
			parts = append(parts, more...)
		}
	}
	for _, p := range parts {
		if p == "!" || p == "&" || p == "~" {
			return nil, fmt.Errorf("in the pattern `%s` nothing follows after `%s`", pattern, p)
		}
	}
	return parts, nil
}

func splitCommas(pattern string) []string { return strings.Split(pattern, ",") }

// splitColons takes a text apart at colons and spaces outside of brackets.
func splitColons(text string) (parts []string, err error) {
	from, open := 0, -1
	for i, c := range text {
		switch {
		case open >= 0:
			if c == ']' {
				open = -1
			}
		case c == '[':
			open = i
		case c == ']':
			return nil, fmt.Errorf("the pattern `%s` has a `]` without its `[`", text)
		case c == ':' || c == ' ' || c == '\t' || c == '\n':
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	if open >= 0 {
		return nil, fmt.Errorf("the pattern `%s` has a `[` that is not closed", text)
	}
	parts = append(parts, text[from:])
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" }), nil
}

// matchParts puts the parts of a pattern together. One without anything to begin with begins with all.
func (inv *Inventory) matchParts(parts []string) ([]*Host, error) {
	var unions, both, without []string
	for _, p := range parts {
		switch p[0] {
		case '!':
			without = append(without, p[1:])
		case '&':
			both = append(both, p[1:])
		default:
			unions = append(unions, p)
		}
	}
	if len(unions) == 0 && len(parts) > 0 {
		// `!web` alone means all but web.
		unions = []string{"all"}
	}
	missing := &NoMatch{}
	var hosts []*Host
	// Hosts stand in the order in which the parts name them, each once.
	have := map[*Host]bool{}
	for _, p := range unions {
		found, err := inv.matchPart(p, true, missing)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			if !have[h] {
				have[h] = true
				hosts = append(hosts, h)
			}
		}
	}
	// Intersections first, then exclusions, wherever they stand: as Ansible has it.
	for i, p := range slices.Concat(both, without) {
		found, err := inv.matchPart(p, false, missing)
		if err != nil {
			return nil, err
		}
		in := hostSet(found)
		// An intersection drops the hosts that are not in it, an exclusion those that are.
		hosts = slices.DeleteFunc(hosts, func(h *Host) bool { return in[h] == (i >= len(both)) })
	}
	if len(missing.Parts) > 0 {
		return hosts, missing
	}
	return hosts, nil
}

// subscript is what some hosts are taken by: one of them, or those from one to another.
type subscript struct {
	name     string // what stands before it
	one      bool
	from, to string // to is "" if there is no end
}

// cutSubscript takes a subscript off a part of a pattern. Brackets around anything else belong to a glob.
func cutSubscript(p string) (s subscript, ok bool) {
	at := strings.LastIndexByte(p, '[')
	inside, closed := strings.CutSuffix(p[at+1:], "]")
	// In a regular expression brackets are a class of characters.
	if at < 1 || !closed || p[0] == '~' {
		return s, false
	}
	s.name, s.from = p[:at], inside
	if isNumber(strings.TrimPrefix(inside, "-")) {
		s.one = true
		return s, true
	}
	if i := strings.IndexAny(inside, ":-"); i > 0 { // [0-2] is an older way to write [0:2]
		s.from, s.to = inside[:i], inside[i+1:]
		return s, isNumber(s.from) && (s.to == "" || isNumber(s.to))
	}
	return s, false
}

// matchPart gives the hosts of one part. The name of a host means the host, even where a group has it too; only behind a sign the group
// comes first.
func (inv *Inventory) matchPart(p string, plain bool, missing *NoMatch) ([]*Host, error) {
	if h := inv.hosts[p]; plain && h != nil {
		return []*Host{h}, nil
	}
	name := p
	sub, some := cutSubscript(p)
	if some {
		name = sub.name
	}
	hosts, known, err := inv.matchNames(name)
	switch {
	case err != nil:
		return nil, err
	// `all` may be empty without being a mistake.
	case len(hosts) == 0 && !known && name != "all":
		missing.Parts = append(missing.Parts, p)
		missing.Hints = append(missing.Hints, inv.suggestName(name))
		return nil, nil
	case !some || len(hosts) == 0:
		return hosts, nil
	}
	return sub.selectFrom(p, hosts)
}

// selectFrom takes some out of a list: [n], from the end if n is negative, or [from:to], which has both.
func (s subscript) selectFrom(p string, hosts []*Host) ([]*Host, error) {
	number := func(text string, otherwise int) int {
		n, err := strconv.Atoi(text)
		if err != nil { // missing, or larger than any list
			return otherwise
		}
		return n
	}
	if s.one {
		n := number(s.from, len(hosts))
		if n < 0 {
			n += len(hosts)
		}
		if n < 0 || n >= len(hosts) {
			return nil, fmt.Errorf("`%s` is not there: `%s` has %d of them, the first is [0]", p, s.name, len(hosts))
		}
		return hosts[n : n+1], nil
	}
	// A bound that is missing, or no number that fits, is the end of the list.
	from, to := number(s.from, len(hosts)), number(s.to, len(hosts)-1)
	if s.to != "" && to < from {
		return nil, fmt.Errorf("the range of `%s` ends before it begins", p)
	}
	to = min(to+1, len(hosts))
	return hosts[min(from, to):to], nil
}

// matchNames gives the hosts of all groups that a name, glob or regular expression matches, and the hosts that it matches itself: a plain
// name looks for hosts only where no group has it. Known says that it has matched a group, which may have no hosts.
func (inv *Inventory) matchNames(name string) (hosts []*Host, known bool, err error) {
	special := name[0] == '~' || strings.ContainsAny(name, ".?*[")
	if !special {
		if g := inv.groups[name]; g != nil {
			return g.All(), true, nil
		}
		if h := inv.Host(name); h != nil {
			return []*Host{h}, true, nil
		}
		return nil, false, nil
	}
	matches, err := newMatcher(name)
	if err != nil {
		return nil, false, err
	}
	for _, g := range inv.Groups {
		if matches(g.Name) {
			known = true
			hosts = append(hosts, g.All()...)
		}
	}
	for _, h := range inv.Hosts {
		if matches(h.Name) {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) == 0 {
		// An address may be the implicit localhost.
		if h := inv.Host(name); h != nil { // 127.0.0.1
			hosts = append(hosts, h)
		}
	}
	return hosts, known, nil
}

// newMatcher makes a test of a glob, which must match all of a name, or of a regular expression, which must match its beginning.
func newMatcher(pattern string) (func(string) bool, error) {
	if expression, ok := strings.CutPrefix(pattern, "~"); ok {
		if _, err := syntax.Parse(expression, syntax.Perl); err != nil {
			if wrong, ok := errors.AsType[*syntax.Error](err); ok {
				return nil, fmt.Errorf("the pattern `%s` is not a regular expression that moon supports:  %s", pattern, wrong.Code)
			}
			return nil, err
		}
		re, err := regexp.Compile(`^(?:` + expression + `)`)
		if err != nil {
			return nil, err
		}
		return re.MatchString, nil
	}
	// A glob matches the whole name.
	re, err := regexp.Compile(globExpression(pattern))
	if err != nil {
		return func(name string) bool { return name == pattern }, nil //nolint:nilerr // such as [z-a]: it matches nothing else
	}
	return re.MatchString, nil
}

// globExpression is a glob as a regular expression: * ? [set] [!set].
func globExpression(glob string) string {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteString(`.`)
		case '[':
			end := i + 1
			if end < len(glob) && glob[end] == '!' {
				end++
			}
			// A bracket that comes first is one of the characters.
			if end < len(glob) && glob[end] == ']' {
				end++
			}
			size := strings.IndexByte(glob[min(end, len(glob)):], ']')
			if size < 0 {
				b.WriteString(`\[`)
				continue
			}
			// What has a meaning in Go's classes and none in a glob is escaped.
			inside := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`, `~`,
				`\~`).Replace(strings.TrimPrefix(glob[i+1:end+size], "!"))
			not := ""
			if glob[i+1] == '!' {
				not = "^"
			}
			b.WriteString(`[` + not + inside + `]`)
			i = end + size
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	return b.String() + `$`
}

// suggestName returns a hint for a name that is not known.
func (inv *Inventory) suggestName(name string) string {
	var names []string
	for _, g := range inv.Groups {
		names = append(names, g.Name)
	}
	for _, h := range inv.Hosts {
		names = append(names, h.Name)
	}
	return suggest.DidYouMean(name, names)
}
