package secret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
)

// form is a way in which a secret is written. Its name says which, so that the same form of another text can be made.
type form struct{ name, text string }

// formsOf are all ways in which a text is looked for, the text itself first. There are none of a text that is too short, or a
// word that is everywhere. left is how many bytes those may have that were made of a form.
func formsOf(text string, left int) []form {
	c := &collection{seen: map[string]bool{}, left: left}
	if len(text) <= maxText {
		c.written("", text)
	}
	// A file of a password ends in a newline that programs do not print.
	if trimmed := strings.TrimSpace(text); trimmed != text && len(trimmed) <= maxText {
		c.written("trim ", trimmed)
	}
	if !strings.ContainsAny(strings.TrimSpace(text), "\n\r") {
		return c.forms
	}
	// Programs print a long secret line by line.
	for i, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) <= maxText && !trivialLine(line) {
			c.written(fmt.Sprintf("line %d ", i+1), line)
		}
	}
	return c.forms
}

type collection struct {
	forms []form
	seen  map[string]bool
	left  int // bytes that forms of forms may have yet
}

func (c *collection) add(name, text string) {
	if len(text) < MinLength || c.seen[text] || trivial[strings.ToLower(text)] {
		return
	}
	c.seen[text] = true
	c.forms = append(c.forms, form{name, text})
}

// trivial are words that are in every output, and that nobody would take for a secret.
var trivial = map[string]bool{"true": true, "false": true, "null": true, "none": true}

// trivialLine is one that says nothing: the frame of a key, a rule of dashes.
func trivialLine(line string) bool {
	framed := strings.HasPrefix(line, "-----") && strings.HasSuffix(line, "-----")
	return framed || strings.Trim(line, line[:min(1, len(line))]) == ""
}

// The number of forms of forms is a square, so they are bounded: by how long a text may be that has them, and by the bytes of all of a
// set. What is computed gets half of those, as the output of a step may have thousands of lines.
const (
	maxTwice    = 256
	maxAllTwice = 1 << 20
)

// twice stands in the name of a form between what was done first and what then.
const twice = "> "

// written adds a text and what programs make of it, and of that again: JSON in JSON, base64 of a quoted word.
func (c *collection) written(name, text string) {
	if len(text) < MinLength || trivial[strings.ToLower(text)] {
		return
	}
	c.add(name+"text", text)
	// Forms of forms are made of those from here on only, not of what another line has added.
	first := len(c.forms)
	c.base64(name, text)
	c.escaped(name, text)
	// Forms of forms grow fast, so long texts have none.
	if len(text) > maxTwice {
		return
	}
	for _, f := range c.forms[first:] {
		if c.left <= 0 {
			return
		}
		from := len(c.forms)
		c.base64(f.name+twice, f.text)
		c.escaped(f.name+twice, f.text)
		for _, f := range c.forms[from:] {
			c.left -= len(f.text)
		}
	}
}

// base64 adds what base64 makes of the text wherever it stands in what is encoded: at each of the three places of a group, the
// characters that it alone decides.
func (c *collection) base64(name, text string) {
	for _, alphabet := range []struct {
		name string
		enc  *base64.Encoding
	}{{"base64", base64.StdEncoding}, {"base64url", base64.URLEncoding}} {
		c.add(name+alphabet.name, alphabet.enc.EncodeToString([]byte(text)))
		for before := range 3 {
			all := alphabet.enc.EncodeToString(append(make([]byte, before), text...))
			// The characters at both ends also hold bits of what stands around the text, so they cannot be looked for.
			from, to := (8*before+5)/6, 8*(before+len(text))/6
			c.add(fmt.Sprintf("%s%s %d", name, alphabet.name, before), all[from:to])
		}
	}
}

// escaped adds the text as it stands in URLs, in JSON, in HTML and in commands.
func (c *collection) escaped(name, text string) {
	for _, u := range []struct{ name, text string }{
		{"query", url.QueryEscape(text)},
		{"path", url.PathEscape(text)},
		{"component", componentMarks.Replace(strings.ReplaceAll(url.QueryEscape(text), "+", "%20"))},
	} {
		c.add(name+u.name, u.text)
		c.add(name+u.name+" lower", lowerHex(u.text))
	}
	plain := jsonText(text)
	c.add(name+"json", plain)
	c.add(name+"json slash", strings.ReplaceAll(plain, "/", `\/`))
	c.add(name+"json html", jsonHTML.Replace(plain))
	c.add(name+"json ascii", asciiJSON(plain))
	if strings.ContainsAny(text, "<>&\"'") {
		for _, by := range htmlEscapes {
			c.add(name+by.name, by.escape.Replace(text))
		}
	}
	c.add(name+"quoted", strings.ReplaceAll(text, "'", `'\''`))
	c.add(name+"quoted twice", strings.ReplaceAll(text, "'", `'"'"'`))
	c.add(name+"double quoted", doubleQuoted.Replace(text))
	c.add(name+"backslashed", backslashed(text))
}

// htmlEscapes are what programs write for the characters that HTML and XML take for their own.
var htmlEscapes = []struct {
	name   string
	escape *strings.Replacer
}{
	{"html", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")},
	{"html quot", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")},
	{"html hex", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;")},
	{"html 039", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#039;")},
	{"html text", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")},
	{"xml", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")},
}

// componentMarks are the characters that JavaScript leaves as they are in a URL.
var componentMarks = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

var (
	jsonHTML     = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)
	doubleQuoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
)

// lowerHex writes %2F as %2f.
func lowerHex(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

func jsonText(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	// What Go escapes for HTML is a form of its own, made from this one.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// asciiJSON is JSON text without any character beyond ASCII, as Python writes it.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return b.String()
}

// backslashed has a backslash before what a shell would not take as it is, as printf %q writes it.
func backslashed(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 && strings.ContainsRune(" \t!\"#$&'()*,;<>?[\\]^`{|}~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
