package filters

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/internal/pattern"
	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Filters for HTML and XML. There is no autoescaping and no mark for text that is safe already: what is escaped twice has
// been asked for twice.

func htmlFilters() map[string]*Filter {
	escape := &Filter{Run: func(c *call.Input) (any, error) { return escapeHTML(c.Print(c.Value)), nil }}
	return map[string]*Filter{
		"e": escape, "escape": escape, "forceescape": escape,
		"safe":      {Run: filterSafe},
		"striptags": {Run: func(c *call.Input) (any, error) { return stripTags(c.Print(c.Value)), nil }},
		"urlize":    {Params: jinja.Takes("trim_url_limit? nofollow? target? rel? extra_schemes?"), Run: filterURLize},
		"xmlattr":   {Params: jinja.Takes("autospace?"), Run: filterXMLAttr},
	}
}

// escapeHTML writes the quotes by number, as Jinja does.
func escapeHTML(s string) string { return html.EscapeString(s) }

// filterSafe gives text; numbers stay numbers.
func filterSafe(c *call.Input) (any, error) {
	if value.IsNumber(c.Value) {
		return c.Value, nil
	}
	return c.Print(c.Value), nil
}

// stripTags removes comments first: one may hold a tag. What begins and never ends stays.
func stripTags(s string) string {
	for _, pair := range [][2]string{{"<!--", "-->"}, {"<", ">"}} {
		var b strings.Builder
		for {
			before, rest, found := strings.Cut(s, pair[0])
			_, after, closed := strings.Cut(rest, pair[1])
			// The rest stays, as in MarkupSafe: a lone `<` is text.
			if !found || !closed {
				break
			}
			b.WriteString(before)
			s = after
		}
		s = b.String() + s
	}
	// White space is joined before entities are read, so that a non-breaking space survives.
	return html.UnescapeString(strings.Join(strings.Fields(s), " "))
}

// filterXMLAttr writes a map as the attributes of an element, without those that are null.
func filterXMLAttr(c *call.Input) (any, error) {
	m, err := c.ValueMap()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, key := range value.KeysOf(m) {
		v, _ := value.EntryOf(m, key)
		if v == nil {
			continue
		}
		// Jinja refuses these since CVE-2024-34064: a key could begin another attribute.
		if strings.ContainsAny(key, "/>=") || strings.ContainsFunc(key, unicode.IsSpace) {
			return nil, value.Errorf(value.Failure, "", "`%s` cannot be the name of an attribute", key)
		}
		if b.Len() > 0 || !c.Has(0) || c.ArgTruth(0) {
			b.WriteByte(' ')
		}
		b.WriteString(escapeHTML(key) + `="` + escapeHTML(c.Print(v)) + `"`)
	}
	return b.String(), nil
}

var (
	spaces     = pattern.New(`\s+`)
	linkHead   = pattern.New(`^(?:[(<]|&lt;)+`)
	linkTail   = pattern.New(`(?:[)>.,\n]|&gt;)+$`)
	mailLike   = pattern.New(`^\S+@\w[\w.-]*\.\w+$`)
	schemeLike = pattern.New(`(?i)^[a-z][a-z0-9+.-]*:(?://?)?$`)
	linkLike   = pattern.New(`(?i)^(?:(?:https?://|www\.)(?:(?:[\w%-]+\.)+)?(?:[a-z]{2,63}|xn--[\w%]{2,59})` +
		`|(?:[\w%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil)` +
		`|https?://(?:\d{1,3}(?:\.\d{1,3}){3}|\[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\]))(?::\d{1,5})?(?:[/?#]\S*)?$`)
)

// linker makes links of the addresses in a text that is escaped already.
type linker struct {
	attributes string
	limit      int // of what is shown of an address, in characters; < 0 for all of it
	schemes    []string
}

func filterURLize(c *call.Input) (any, error) {
	limit, err := c.ArgInt(0, -1)
	if err != nil {
		return nil, err
	}
	l := linker{limit: limit}
	if v := c.Arg(4); v != nil {
		schemes, err := value.ItemsOf(v)
		if err != nil {
			return nil, err
		}
		for _, scheme := range schemes {
			if l.schemes = append(l.schemes, c.Print(scheme)); !schemeLike.MatchString(c.Print(scheme)) {
				return nil, value.Errorf(value.Failure, "write one such as `ftp:`", "`%s` does not begin an address", c.Print(scheme))
			}
		}
	}
	rel := []string{"noopener"}
	if c.Arg(3) != nil {
		rel = append(rel, strings.Fields(c.ArgText(3, ""))...)
	}
	if c.ArgTruth(1) {
		rel = append(rel, "nofollow")
	}
	// Jinja collects rel in a set and sorts it, so its order does not follow the arguments.
	slices.Sort(rel)
	l.attributes = ` rel="` + escapeHTML(strings.Join(slices.Compact(rel), " ")) + `"`
	if target := c.Arg(2); target != nil && target != "" {
		l.attributes += ` target="` + escapeHTML(c.Print(target)) + `"`
	}
	// Escaped before links are made, as their patterns expect &lt; and &gt;.
	text := escapeHTML(c.Print(c.Value))
	var b strings.Builder
	from := 0
	// White space itself is kept, line breaks included; the last gap is the end of the text.
	for _, gap := range append(spaces.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		b.WriteString(l.link(text[from:gap[0]]) + text[gap[0]:gap[1]])
		from = gap[1]
	}
	if err := c.Grow(b.Len()); err != nil {
		return nil, err
	}
	return b.String(), nil
}

// link makes a link of one word. Brackets around it and the signs behind it do not belong to it, but those that balance one
// inside of it do.
func (l *linker) link(word string) string {
	head := linkHead.FindString(word)
	middle := word[len(head):]
	tail := linkTail.FindString(middle)
	middle = middle[:len(middle)-len(tail)]
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		// Wikipedia's addresses end in brackets: (https://…/Moon_(film)) keeps the inner pair.
		opened := strings.Count(middle, pair[0])
		if opened <= strings.Count(middle, pair[1]) {
			continue
		}
		for ; opened > 0; opened-- {
			before, after, found := strings.Cut(tail, pair[1])
			if !found {
				break
			}
			middle, tail = middle+before+pair[1], after
		}
	}
	return head + l.anchor(middle) + tail
}

func (l *linker) anchor(word string) string {
	mail, isMailto := strings.CutPrefix(word, "mailto:")
	switch {
	case linkLike.MatchString(word):
		address := word
		// Jinja assumes https for an address that does not say.
		if !strings.HasPrefix(word, "https://") && !strings.HasPrefix(word, "http://") {
			address = "https://" + word
		}
		return `<a href="` + address + `"` + l.attributes + ">" + l.shown(word) + "</a>"
	case isMailto && mailLike.MatchString(mail):
		return `<a href="` + word + `">` + mail + "</a>"
	// What has a colon has a scheme: `sip:ada@example.org` is a matter of extra_schemes.
	case !strings.HasPrefix(word, "www.") && !strings.HasPrefix(word, "@") && !strings.Contains(word, ":") && mailLike.MatchString(word):
		return `<a href="mailto:` + word + `">` + word + "</a>"
	}
	for _, scheme := range l.schemes {
		if word != scheme && strings.HasPrefix(word, scheme) {
			return `<a href="` + word + `"` + l.attributes + ">" + word + "</a>"
		}
	}
	return word
}

// shown is an address as it is read.
func (l *linker) shown(word string) string {
	if l.limit < 0 || utf8.RuneCountInString(word) <= l.limit {
		return word
	}
	return string([]rune(word)[:l.limit]) + "..."
}
