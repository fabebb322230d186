package filters

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"moon/plan/eval/call"
	"moon/plan/eval/pyyaml"
	"moon/plan/eval/value"
)

func filterFromJSON(c *call.Input) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return c.Value, nil
	}
	return formOf(c.Shared).fromJSON(c, s)
}

func decodeJSON(_ *call.Input, s string) (any, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, value.Errorf(value.Failure, "", "the text is not JSON: %s", jsonReason(err))
	}
	// A decoder stops behind the first value and would ignore the rest.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, value.Errorf(value.Failure, "", "the text is not JSON: more follows after the first value")
	}
	return fromJSONNumbers(v), nil
}

// decodeJSONInOrder keeps the order of keys, which the library's maps do not. Whether the text is JSON the library says before.
func decodeJSONInOrder(c *call.Input, s string) (any, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var whole json.RawMessage
	if err := json.NewDecoder(strings.NewReader(s)).Decode(&whole); err != nil {
		return nil, value.Errorf(value.Failure, "", "the text is not JSON: %s", jsonReason(err))
	}
	v, err := decodeJSONValue(c, d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, value.Errorf(value.Failure, "", "the text is not JSON: more follows after the first value")
	}
	return v, nil
}

func decodeJSONValue(c *call.Input, d *json.Decoder) (any, error) {
	if err := c.Spend(1); err != nil {
		return nil, err
	}
	t, err := d.Token()
	if err != nil {
		return nil, value.Errorf(value.Failure, "", "the text is not JSON: %s", jsonReason(err))
	}
	switch t := t.(type) {
	case json.Number:
		return value.ParseNumber(string(t)), nil
	case json.Delim:
		return decodeJSONContent(c, d, t == '{')
	}
	return t, nil
}

// decodeJSONContent reads what is in brackets.
func decodeJSONContent(c *call.Input, d *json.Decoder, isMap bool) (any, error) {
	m, list := value.NewDict(0), []any{}
	for d.More() {
		v, err := decodeJSONValue(c, d)
		if err != nil {
			return nil, err
		}
		if !isMap {
			list = append(list, v)
			continue
		}
		key, _ := v.(string)
		if v, err = decodeJSONValue(c, d); err != nil {
			return nil, err
		}
		m.Set(key, v)
	}
	if _, err := d.Token(); err != nil {
		return nil, value.Errorf(value.Failure, "", "the text is not JSON: %s", jsonReason(err))
	}
	if isMap {
		return m, nil
	}
	return list, nil
}

func jsonReason(err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.As(err, &syntax):
		return value.Sentence(syntax.Error()) + " at byte " + strconv.FormatInt(syntax.Offset, 10)
	default:
		return "it ends too early"
	}
}

func fromJSONNumbers(v any) any {
	return value.MapLeaves(v, func(v any) any {
		if n, ok := v.(json.Number); ok {
			return value.ParseNumber(n.String())
		}
		return v
	})
}

func filterToYAML(c *call.Input) (any, error) { return formOf(c.Shared).toYAML(c) }

func writeYAML(c *call.Input) (any, error) {
	// The parameters are shared with plays; what steps cannot do is refused rather than ignored.
	for i := 3; i < len(c.Args); i++ {
		if c.Has(i) {
			return nil, value.Errorf(value.TypeError, "", "has no argument `%s`",
				[]string{"default_flow_style", "explicit_start", "allow_unicode"}[i-3])
		}
	}
	indent, err := c.ArgInt(0, 4)
	if err != nil {
		return nil, err
	}
	if !c.Has(0) && c.Name == "to_yaml" {
		indent = 2
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(max(2, min(indent, 9)))
	if err := e.Encode(yamlNode(c.Value)); err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return b.String(), nil
}

// writeAnsibleYAML is to_yaml and to_nice_yaml as Ansible has them.
func writeAnsibleYAML(c *call.Input) (any, error) {
	step, flow := 2, pyyaml.FlowLeaves
	if c.Name == "to_nice_yaml" {
		step, flow = 4, pyyaml.FlowNever
	}
	step, err := c.ArgInt(0, step)
	if err != nil {
		return nil, err
	}
	width, err := c.ArgInt(2, 80)
	if err != nil {
		return nil, err
	}
	switch {
	case !c.Has(3) || c.Args[3] == nil:
	case value.Truthy(c.Args[3]):
		flow = pyyaml.FlowAlways
	default:
		flow = pyyaml.FlowNever
	}
	// Not yaml.v3: it breaks lines, quotes and indents in other places than PyYAML.
	text := pyyaml.Write(c.Value, pyyaml.Style{Indent: step, Width: width, Flow: flow, InOrder: c.Has(1) && !c.ArgTruth(1)})
	if err := c.Grow(len(text)); err != nil {
		return nil, err
	}
	return text, nil
}

// yamlNode builds the tree by hand: keys sorted, numbers as they were spelled.
func yamlNode(v any) *yaml.Node {
	switch v := v.(type) {
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			n.Content = append(n.Content, yamlNode(item))
		}
		if len(v) == 0 {
			// An empty list has no form but [].
			n.Style = yaml.FlowStyle
		}
		return n
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range value.SortedKeys(v) {
			n.Content = append(n.Content, yamlNode(key), yamlNode(v[key]))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case value.Number:
		tag := "!!float"
		if _, ok := v.Value.(int); ok {
			tag = "!!int"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.Text}
	default:
		n := &yaml.Node{}
		if err := n.Encode(v); err != nil {
			n.SetString(value.Text(v))
		}
		return n
	}
}

func filterFromYAML(c *call.Input) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return c.Value, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(s), &doc); err != nil {
		reason := strings.TrimPrefix(value.Sentence(err.Error()), "yaml: ")
		return nil, value.Errorf(value.Failure, "", "the text is not YAML: %s", reason)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return decodeYAML(c, doc.Content[0], 0)
}

// decodeYAML converts a node. Every visit counts as work, so that a bomb of aliases ends in an error.
func decodeYAML(c *call.Input, n *yaml.Node, depth int) (any, error) {
	if err := c.Spend(1); err != nil {
		return nil, err
	}
	// An alias may be inside of what it names.
	if depth > 1000 {
		return nil, value.Errorf(value.Failure, "", "the YAML is nested too deeply")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return decodeYAML(c, n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			v, err := decodeYAML(c, item, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case yaml.MappingNode:
		return decodeYAMLMap(c, n, depth)
	case yaml.ScalarNode:
		return yamlScalar(n), nil
	default:
		return nil, nil
	}
}

func decodeYAMLMap(c *call.Input, n *yaml.Node, depth int) (any, error) {
	m := value.NewDict(len(n.Content) / 2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		v, err := decodeYAML(c, n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.ShortTag() != "!!merge" {
			k, err := decodeYAML(c, key, depth+1)
			if err != nil {
				return nil, err
			}
			m.SetAny(k, v)
			continue
		}
		// << takes one map or a list of them, and of several the first wins.
		sources, isList := v.([]any)
		if !isList {
			sources = []any{v}
		}
		for _, source := range sources {
			for _, k := range value.KeysOf(source) {
				// Keys of the map itself win, also those behind the merge: SetAny overwrites.
				if _, ok := m.Get(k); !ok {
					v, _ := value.EntryOf(source, k)
					m.SetNamed(k, value.KeyOf(source, k), v)
				}
			}
		}
	}
	return c.FinishMap(m), nil
}

func yamlScalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return value.SaysYes(n.Value)
	case "!!int":
		var i int
		if err := n.Decode(&i); err == nil {
			// Other spellings, such as 0644, are kept: a mode must print as it is written.
			if strconv.Itoa(i) == n.Value {
				return i
			}
			return value.Number{Text: n.Value, Value: i}
		}
	case "!!float":
		var f float64
		if err := n.Decode(&f); err == nil {
			if value.FloatText(f) == n.Value || math.IsNaN(f) {
				return f
			}
			return value.Number{Text: n.Value, Value: f}
		}
	case "!!str":
		// YAML 1.1, which playbooks are written in, has more words for true and false.
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0 {
			switch strings.ToLower(n.Value) {
			case "yes", "on":
				return true
			case "no", "off":
				return false
			}
		}
	}
	return n.Value
}
