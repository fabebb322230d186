package playbook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"moon/internal/diag"
)

// Document reads a YAML file of any kind.
func Document(f *File, ds *diag.List) (Value, bool) { return readDocument(f, ds) }

// JSON reads a file of JSON, such as a program prints. Unlike in YAML its texts are texts, whatever they look like.
func JSON(f *File, ds *diag.List) (Value, bool) {
	r := &jsonReader{f: f, dec: json.NewDecoder(bytes.NewReader(f.Text)), line: 1}
	r.dec.UseNumber()
	var whole json.RawMessage
	err := json.Unmarshal(f.Text, &whole) // which says best where a mistake is
	if err == nil {
		var n *yaml.Node
		if n, err = r.readValue(0); err == nil {
			return Value{n, f}, true
		}
	}
	at := r.at
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		// Of a text that ends too early the decoder reports its last byte.
		if at = int(wrong.Offset) - 1; at+1 >= len(bytes.TrimSpace(f.Text)) && strings.HasPrefix(err.Error(), "unexpected end") {
			at, err = len(f.Text), errors.New("it ends too early")
		}
	}
	line, column := r.placeOf(max(at, 0))
	ds.Add(diag.Diagnostic{Pos: diag.Pos{File: f.Name, Line: line, Column: column}, Message: fmt.Sprintf("not valid JSON: %s", err)})
	return Value{}, false
}

// jsonReader makes of JSON what the YAML parser would. Places are found going forward: each is after the one before.
type jsonReader struct {
	f     *File
	dec   *json.Decoder
	at    int // a place that is known
	line  int
	start int // of the line
}

func (r *jsonReader) placeOf(at int) (line, column int) {
	at = min(at, len(r.f.Text))
	// Places are mostly asked for in order, so counting continues where it stopped.
	if at < r.at {
		r.at, r.line, r.start = 0, 1, 0
	}
	passed := r.f.Text[r.at:at]
	r.line += bytes.Count(passed, []byte("\n"))
	if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
		r.start = r.at + i + 1
	}
	r.at = at
	return r.line, utf8.RuneCount(r.f.Text[r.start:at]) + 1
}

func (r *jsonReader) readValue(depth int) (*yaml.Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	at := int(r.dec.InputOffset())
	// The decoder stands behind the last token, before blanks and punctuation.
	for at < len(r.f.Text) && strings.IndexByte(" \t\r\n,:", r.f.Text[at]) >= 0 {
		at++
	}
	line, column := r.placeOf(at)
	t, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	// TaggedStyle: a text that looks like a number stays a text.
	scalar := func(tag, value string) (*yaml.Node, error) {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Style: yaml.TaggedStyle, Value: value, Line: line, Column: column}, nil
	}
	switch t := t.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Line: line, Column: column}
		if t == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		return n, r.readContent(n, depth)
	case bool:
		return scalar("!!bool", fmt.Sprint(t))
	case json.Number:
		return scalar(numberTag(t.String()))
	case string:
		return scalar("!!str", t)
	}
	return scalar("!!null", "null")
}

// numberTag is the type of a number, and its text. What is too large to be exact is a fraction; YAML has a word for what is beyond
// all numbers.
func numberTag(text string) (tag, yamlText string) {
	_, err := strconv.ParseInt(text, 10, 64)
	_, err2 := strconv.ParseUint(text, 10, 64)
	if err == nil || err2 == nil {
		// Up to 64 bits exactly, signed or not.
		return "!!int", text
	}
	if f, err := strconv.ParseFloat(text, 64); err != nil {
		return "!!float", map[bool]string{true: "-.inf", false: ".inf"}[math.Signbit(f)]
	}
	return "!!float", text
}

func (r *jsonReader) readContent(n *yaml.Node, depth int) error {
	seen := map[string]int{}
	for r.dec.More() {
		v, err := r.readValue(depth + 1)
		if err != nil {
			return err
		}
		if n.Kind == yaml.SequenceNode {
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
