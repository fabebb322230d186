package placed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/plan/playbook/node"
)

// MaxDepth is how deep documents may be nested.
const MaxDepth = 200

// Mistake is what is wrong with a text, and where.
type Mistake struct {
	Line, Column int
	Text, Hint   string
}

// Read reads a text. Its texts are texts, whatever they look like.
func Read(text []byte) (*node.Node, *Mistake) {
	r := &reader{text: text, dec: json.NewDecoder(bytes.NewReader(text)), line: 1}
	r.dec.UseNumber()
	var whole json.RawMessage
	err := json.Unmarshal(text, &whole) // which says best where a mistake is
	if err == nil {
		var n *node.Node
		if n, err = r.readValue(0); err == nil {
			return n, nil
		}
	}
	at := r.at
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		// Of a text that ends too early the decoder reports its last byte.
		if at = int(wrong.Offset) - 1; at+1 >= len(bytes.TrimSpace(text)) && strings.HasPrefix(err.Error(), "unexpected end") {
			at, err = len(text), errors.New("it ends too early")
		}
	}
	line, column := r.placeOf(max(at, 0))
	return nil, &Mistake{Line: line, Column: column, Text: err.Error()}
}

// reader makes of JSON what the YAML parser would. Places are found going forward: each is after the one before.
type reader struct {
	text  []byte
	dec   *json.Decoder
	at    int // a place that is known
	line  int
	start int // of the line
}

func (r *reader) placeOf(at int) (line, column int) {
	at = min(at, len(r.text))
	// Places are mostly asked for in order, so counting continues where it stopped.
	if at < r.at {
		r.at, r.line, r.start = 0, 1, 0
	}
	passed := r.text[r.at:at]
	r.line += bytes.Count(passed, []byte("\n"))
	if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
		r.start = r.at + i + 1
	}
	r.at = at
	return r.line, utf8.RuneCount(r.text[r.start:at]) + 1
}

func (r *reader) readValue(depth int) (*node.Node, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", MaxDepth)
	}
	at := int(r.dec.InputOffset())
	// The decoder stands behind the last token, before blanks and punctuation.
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	line, column := r.placeOf(at)
	t, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	// TaggedStyle: a text that looks like a number stays a text.
	scalar := func(tag node.Tag, value string) (*node.Node, error) {
		return node.NewScalar(tag, value, line, column), nil
	}
	switch t := t.(type) {
	case json.Delim:
		n := node.NewList(line, column)
		if t == '{' {
			n.Kind, n.Tag = node.Map, node.Mapping
		}
		return n, r.readContent(n, depth)
	case bool:
		return scalar(node.Bool, fmt.Sprint(t))
	case json.Number:
		return scalar(NumberTag(t.String()))
	case string:
		return scalar(node.Str, t)
	}
	return scalar(node.Null, "null")
}

// NumberTag is the type of a number, and its text. What is too large to be exact is a fraction; YAML has a word for what is beyond
// all numbers.
func NumberTag(text string) (tag node.Tag, yamlText string) {
	_, err := strconv.ParseInt(text, 10, 64)
	_, err2 := strconv.ParseUint(text, 10, 64)
	if err == nil || err2 == nil {
		// Up to 64 bits exactly, signed or not.
		return node.Int, text
	}
	if f, err := strconv.ParseFloat(text, 64); err != nil {
		return node.Float, map[bool]string{true: "-.inf", false: ".inf"}[math.Signbit(f)]
	}
	return node.Float, text
}

func (r *reader) readContent(n *node.Node, depth int) error {
	seen := map[string]int{}
	for r.dec.More() {
		v, err := r.readValue(depth + 1)
		if err != nil {
			return err
		}
		if n.Kind == node.List {
			n.Content = append(n.Content, v)
			continue
		}
		key := v
		if v, err = r.readValue(depth + 1); err != nil {
			return err
		}
		// In the place of the first, so that the order of keys stays.
		if i, ok := seen[key.Value]; ok { // the last one counts
			n.Content[i] = v
			continue
		}
		n.Content = append(n.Content, key, v)
		seen[key.Value] = len(n.Content) - 1
	}
	_, err := r.dec.Token()
	return err
}
