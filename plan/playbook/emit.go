package playbook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// YAML is a JSON document as YAML, with the same keys in the same order and the same values. Text is quoted wherever
// any reader, of YAML 1.1 too, could take it for something else.
func YAML(doc []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	n, err := emitValue(dec)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	err = enc.Close()
	return out.Bytes(), err
}

func emitValue(dec *json.Decoder) (*yaml.Node, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		return emitCollection(dec, t)
	case string:
		return emitText(t), nil
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(t.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: t.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(t)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

func emitCollection(dec *json.Decoder, open json.Delim) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	if open == '{' {
		n.Kind = yaml.MappingNode
	}
	for dec.More() {
		item, err := emitValue(dec)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, item)
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	_, err := dec.Token() // the closing bracket
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// plainWord is text that no version of YAML takes for anything but text, if it is none of its words.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

var yamlWords = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`)

func emitText(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
	switch {
	case plainWord.MatchString(text) && !yamlWords.MatchString(text):
		n.Style = 0
	case literal(text):
		n.Style = yaml.LiteralStyle
	}
	return n
}

// literal reports text of several lines that a block scalar keeps as it is.
func literal(text string) bool {
	if !strings.Contains(strings.TrimRight(text, "\n"), "\n") || strings.ContainsAny(text[:1], " \n") {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimRightFunc(line, unicode.IsSpace) != line {
			return false
		}
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
			return false
		}
	}
	return true
}
