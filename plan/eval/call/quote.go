package call

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// EscapeForPython escapes what Python's re.escape does.
func EscapeForPython(text string) string {
	var b strings.Builder
	for _, r := range text {
		// What re.escape escapes since Python 3.7: only what means something in a pattern.
		if strings.ContainsRune("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// QuoteForShell makes one word for a POSIX shell, with as few quotes as it needs.
func QuoteForShell(text string) string {
	if quoted, err := syntax.Quote(text, syntax.LangPOSIX); err == nil {
		return quoted
	}
	// Quote refuses control characters for POSIX, though single quotes hold them.
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// QuoteForPython is shlex.quote.
func QuoteForPython(s string) string {
	safe := func(r rune) bool {
		return r < utf8.RuneSelf && ((r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9') || strings.ContainsRune("@%+=:,./-_", r))
	}
	// As shlex does it, sign by sign: tasks of plays compare such texts with what Ansible made of them.
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}
