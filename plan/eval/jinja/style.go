package jinja

import (
	"slices"
	"strings"
)

// Style is how the text of a document is written, as the template action of plays lets people say it. The zero value is
// Jinja's own with Ansible's defaults.
type Style struct {
	KeepBreaks bool // trim_blocks: false, the newline after a tag stays
	Lstrip     bool // lstrip_blocks: true, the space before a tag that begins a line goes
	// The delimiters; "" for the usual ones.
	BlockStart, BlockEnd, VariableStart, VariableEnd, CommentStart, CommentEnd string
}

// header begins a first line that says the style: #jinja2: lstrip_blocks: True
const header = "#jinja2:"

// delimiters in the order block, variable, comment.
func (s Style) delimiters() (opening, closing [3]string) {
	or := func(given, usual string) string {
		if given == "" {
			return usual
		}
		return given
	}
	return [3]string{or(s.BlockStart, "{%"), or(s.VariableStart, "{{"), or(s.CommentStart, "{#")},
		[3]string{or(s.BlockEnd, "%}"), or(s.VariableEnd, "}}"), or(s.CommentEnd, "#}")}
}

// Usual reports whether the delimiters are those that Templated knows.
func (s Style) Usual() bool {
	opening, closing := s.delimiters()
	usualOpening, usualClosing := Style{}.delimiters()
	return opening == usualOpening && closing == usualClosing
}

// WithHeader takes what a first line #jinja2: says, and gives where the text goes on.
func (s Style) WithHeader(text string) (Style, int, *Error) {
	if !strings.HasPrefix(text, header) {
		return s, 0, nil
	}
	line, _, found := strings.Cut(text, "\n")
	end := len(line)
	// The line break belongs to the header, which leaves no empty line.
	if found {
		end++
	}
	at := len(header)
	for pair := range strings.SplitSeq(line[at:], ",") {
		if err := s.say(pair); err != nil {
			err.Offset, err.Width = at, len(strings.TrimRight(pair, "\r"))
			return s, 0, err
		}
		// Counted, so that a mistake is shown at its own setting.
		at += len(pair) + 1
	}
	return s, end, nil
}

// say takes one `name: value` of the header.
func (s *Style) say(pair string) *Error {
	name, value, ok := strings.Cut(pair, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok {
		return &Error{
			Message: "the first line says how the template is read, as `name: value`",
			Hint:    "write `" + header + " trim_blocks: False`",
		}
	}
	flags := map[string]*bool{"trim_blocks": &s.KeepBreaks, "lstrip_blocks": &s.Lstrip, "keep_trailing_newline": nil}
	texts := map[string]*string{
		"block_start_string": &s.BlockStart, "block_end_string": &s.BlockEnd,
		"variable_start_string": &s.VariableStart, "variable_end_string": &s.VariableEnd,
		"comment_start_string": &s.CommentStart, "comment_end_string": &s.CommentEnd,
	}
	if flag, known := flags[name]; known {
		if said, isText := quoted(value); isText { // in quotes; Python takes any text but none for true
			value = "False"
			if said != "" {
				value = "True"
			}
		}
		if value != "True" && value != "False" {
			return &Error{Message: "`" + name + "` needs True or False, not `" + value + "`"}
		}
		if flag != nil {
			// KeepBreaks is the opposite of trim_blocks, so that the zero value is Ansible's default.
			*flag = (value == "True") != (name == "trim_blocks")
		}
		return nil
	}
	text, known := texts[name]
	if !known {
		return Misspelt("setting", name, append(sortedNames(texts), sortedNames(flags)...))
	}
	given, isText := quoted(value)
	if !isText || given == "" {
		return &Error{Message: "`" + name + "` needs a text in quotes, not `" + value + "`"}
	}
	// An empty delimiter would begin everywhere, so it was refused above.
	*text = given
	return nil
}

// quoted reads a text in quotes.
func quoted(text string) (string, bool) {
	tokens, _, err := LexExpression(text, 0, "", "", Lexing{})
	if err != nil || len(tokens) != 2 || tokens[0].kind != tokenString {
		return "", false
	}
	return tokens[0].text, true
}

func sortedNames[T any](m map[string]T) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Reading is how a text is cut into pieces.
type Reading struct {
	Style
	Document    bool
	LikeAnsible bool // one newline at the end goes
	RawStrings  bool // strings in outputs are as they are written: Ansible doubles their backslashes, and does not in files
	From        int  // where the text begins
}
