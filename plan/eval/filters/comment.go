package filters

import (
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// commentParams are the parameters of comment: the style, and what takes the place of a part of it.
var commentParams = jinja.Takes("style? newline? beginning? prefix? prefix_count? decoration? postfix? postfix_count? end?")

// mostCommentLines is how often a prefix or a postfix may be there.
const mostCommentLines = 1000

// commentStyle is what stands around the lines of a comment.
type commentStyle struct{ beginning, decoration, end string }

var commentStyles = map[string]commentStyle{
	"plain": {decoration: "# "}, "erlang": {decoration: "% "}, "c": {decoration: "// "},
	"cblock": {"/*", " * ", " */"}, "xml": {"<!--", " - ", "-->"},
}

// filterComment makes text a comment, line by line.
func filterComment(c *call.Input) (any, error) {
	text, err := c.ValueText()
	if err != nil {
		return nil, err
	}
	style, ok := commentStyles[c.ArgText(0, "plain")]
	if !ok {
		return nil, value.Errorf(value.TypeError, "give the parts of another one: comment(decoration='; ')",
			"knows the styles `plain`, `c`, `cblock`, `erlang` and `xml`, not `%s`", c.ArgText(0, ""))
	}
	newline := c.ArgText(1, "\n")
	decoration := c.ArgText(5, style.decoration)
	bare := strings.TrimRight(decoration, " \t\n")
	prefix, err := commentLines(c, 3, bare)
	if err != nil {
		return nil, err
	}
	postfix, err := commentLines(c, 6, bare)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if beginning := c.ArgText(2, style.beginning); beginning != "" {
		b.WriteString(beginning + newline)
	}
	for _, line := range prefix {
		if line != newline {
			line += newline
		}
		b.WriteString(line)
	}
	body := decoration + strings.ReplaceAll(text, newline, newline+decoration)
	// A line with nothing but the decoration ends without its blanks.
	b.WriteString(strings.ReplaceAll(body, decoration+newline, bare+newline))
	for _, line := range postfix {
		b.WriteString(newline + line)
	}
	if end := c.ArgText(8, style.end); end != "" {
		b.WriteString(newline + end)
	}
	return b.String(), nil
}

// commentLines are the lines before or behind the text: that of a parameter, as often as the next one says.
func commentLines(c *call.Input, param int, otherwise string) (lines []string, err error) {
	line := c.ArgText(param, otherwise)
	n, err := c.ArgInt(param+1, 1)
	if err != nil {
		return nil, err
	}
	if n > mostCommentLines {
		return nil, value.Errorf(value.TypeError, "", "cannot have more than %d lines before or behind the text", mostCommentLines)
	}
	for range n {
		lines = append(lines, line)
	}
	if line == "" && param == 3 { // an empty prefix is none
		return nil, nil
	}
	return lines, nil
}
