package mooncake

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// get is the value of a key; nil if the map has none, or is none.
func get(m *yaml.Node, key string) *yaml.Node {
	if i := find(m, key); i >= 0 {
		return m.Content[i+1]
	}
	return nil
}

func find(m *yaml.Node, key string) int {
	if m == nil || m.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// text is a scalar as written; "" if there is none.
func text(m *yaml.Node, key string) string {
	if v := get(m, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

func truth(m *yaml.Node, key string, otherwise bool) bool {
	v := text(m, key)
	if v == "" {
		return otherwise
	}
	return strings.EqualFold(v, "true") || strings.EqualFold(v, "yes")
}

func remove(m *yaml.Node, key string) {
	if i := find(m, key); i >= 0 {
		m.Content = slices.Delete(m.Content, i, i+2)
	}
}

// set gives a key a value, in its place if the map has it.
func set(m *yaml.Node, key string, v *yaml.Node) {
	if i := find(m, key); i >= 0 {
		m.Content[i+1] = v
		return
	}
	m.Content = append(m.Content, scalar(key), v)
}

// swap puts another action into the place of one.
func swap(step *yaml.Node, old, action string, args *yaml.Node) {
	i := find(step, old)
	step.Content[i].Value, step.Content[i+1] = action, args
}

func scalar(value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if strings.Contains(value, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

func plain(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }

// mapOf is a map of keys and values in turns; values are nodes or texts, and those that are nil or empty are skipped.
func mapOf(pairs ...any) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		switch v := pairs[i+1].(type) {
		case *yaml.Node:
			if v != nil {
				set(m, key, v)
			}
		case string:
			if v != "" {
				set(m, key, scalar(v))
			}
		}
	}
	return m
}

func listOf(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

func words(list ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, w := range list {
		n.Content = append(n.Content, scalar(w))
	}
	return n
}
