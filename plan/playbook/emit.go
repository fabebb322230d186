package playbook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"moon/internal/pattern"
)

// YAML is a JSON document as YAML, with the same keys in the same order and the same values. Text is quoted wherever
// any reader, of YAML 1.1 too, could take it for something else.
//
// It is written as it is read: handing a plan of 100,000 steps to yaml.v3 as nodes took 38 s and 7.7 GB.
func YAML(doc []byte) ([]byte, error) {
	e := emitter{dec: json.NewDecoder(bytes.NewReader(doc))}
	e.dec.UseNumber()
	if err := e.writeValue(0, true); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read the document: %w", err)
	}
	return e.out.Bytes(), nil
}

type emitter struct {
	dec *json.Decoder
	out bytes.Buffer
}

// writeValue writes the next value and ends the line. What is inside a collection stands at the indent; open says that the
// line has been indented that far already, as it is behind a dash.
func (e *emitter) writeValue(indent int, open bool) error {
	t, err := e.dec.Token()
	if err != nil {
		return err
	}
	delim, collection := t.(json.Delim)
	switch {
	case collection && e.dec.More():
		if !open {
			e.out.WriteByte('\n')
		}
		return e.writeCollection(delim, indent, open)
	case collection:
		// Nothing is in it: its closing bracket is taken here, and the short form stands on the line.
		_, err := e.dec.Token()
		e.writeScalar(map[json.Delim]string{'{': "{}", '[': "[]"}[delim], open)
		return err
	}
	switch t := t.(type) {
	case string:
		e.writeScalar(emitText(t, indent), open)
	case nil:
		e.writeScalar("null", open)
	default:
		e.writeScalar(fmt.Sprint(t), open)
	}
	return nil
}

// writeScalar writes text behind a dash (open) or a colon.
func (e *emitter) writeScalar(text string, open bool) {
	if !open {
		e.out.WriteByte(' ')
	}
	e.out.WriteString(text)
	e.out.WriteByte('\n')
}

func (e *emitter) writeCollection(delim json.Delim, indent int, open bool) error {
	for e.dec.More() {
		if !open {
			e.out.WriteString(strings.Repeat(" ", indent))
		}
		open = false
		if delim == '[' {
			e.out.WriteString("- ")
			if err := e.writeValue(indent+2, true); err != nil {
				return err
			}
			continue
		}
		if err := e.writeKey(indent); err != nil {
			return err
		}
		if err := e.writeValue(indent+2, false); err != nil {
			return err
		}
	}
	_, err := e.dec.Token() // the closing bracket
	return err
}

// maxKey is how long a key may be, in bytes, that stands before its colon without further ado: YAML has 1,024
// characters.
const maxKey = 1000

func (e *emitter) writeKey(indent int) error {
	t, err := e.dec.Token()
	if err != nil {
		return err
	}
	key, _ := t.(string) // the decoder lets nothing else pass
	if !plainText(key) {
		key = strconv.Quote(key)
	}
	// YAML takes a key without a question mark only up to 1024 characters.
	if len(key) > maxKey {
		e.out.WriteString("? " + key + "\n" + strings.Repeat(" ", indent) + ":")
		return nil
	}
	e.out.WriteString(key + ":")
	return nil
}

// plainWord is text that no version of YAML takes for anything but text, if it is none of its words.
var plainWord = pattern.New(`^[A-Za-z/][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

var yamlWords = pattern.New(`^(?i:y|n|yes|no|on|off|true|false|null)$`)

func plainText(text string) bool { return plainWord.MatchString(text) && !yamlWords.MatchString(text) }

// emitText is text as a scalar: plain, as a block of lines at the indent, or quoted. Go quotes with escapes that YAML
// has too, and escapes whatever is not printable.
func emitText(text string, indent int) string {
	switch {
	case plainText(text):
		return text
	case !fitsBlock(text):
		return strconv.Quote(text)
	}
	head := "|-"
	if rest, ok := strings.CutSuffix(text, "\n"); ok {
		head, text = "|", rest
	}
	// In a document the text must be indented by at least one, even at the top.
	pad := "\n" + strings.Repeat(" ", max(indent, 2))
	var b strings.Builder
	b.WriteString(head)
	for line := range strings.SplitSeq(text, "\n") {
		// An empty line of a block has no indentation, which would be part of the text.
		if line == "" {
			b.WriteByte('\n')
			continue
		}
		b.WriteString(pad + line)
	}
	return b.String()
}

// fitsBlock reports text of several lines that a block keeps as it is.
func fitsBlock(text string) bool {
	text = strings.TrimSuffix(text, "\n")
	// Leading blanks would be taken for the indentation of the block, and several newlines at the end need another head.
	if !strings.Contains(text, "\n") || strings.HasSuffix(text, "\n") || text[0] == ' ' || text[0] == '\n' {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasSuffix(line, " ") || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return false
		}
	}
	return true
}
