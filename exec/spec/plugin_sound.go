package spec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// checkSound says what is wrong with a schema that whoever judges by it would not notice, or would never come back from: types that
// there are none of, and schemas that lead to themselves without looking at anything in between.
func checkSound(root map[string]any) error {
	s := soundness{root: root, seen: map[uintptr]bool{}}
	return s.checkAll(root, false)
}

type soundness struct {
	root map[string]any
	seen map[uintptr]bool // true while it is being followed
}

// Keywords whose values are data, and those whose values are schemas by name.
var (
	notSchemas   = []string{"default", "const", "enum", "examples"}
	namedSchemas = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

// checkAll looks at all schemas in a value. named says that its keys are the user's.
func (s *soundness) checkAll(v any, named bool) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := s.checkAll(item, false); err != nil {
				return err
			}
		}
	case map[string]any:
		if !named {
			// An $id moves the place from which references count, and could be an address.
			if id, ok := v["$id"].(string); ok && !s.isRoot(v) {
				return fmt.Errorf("it has an $id inside, %s, which its references would start from; remove it", id)
			}
			if err := s.followReferences(v); err != nil {
				return err
			}
		}
		for name, inner := range v {
			if !named && slices.Contains(notSchemas, name) {
				continue
			}
			if err := s.checkAll(inner, !named && slices.Contains(namedSchemas, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *soundness) isRoot(v map[string]any) bool {
	return reflect.ValueOf(v).Pointer() == reflect.ValueOf(s.root).Pointer()
}

// followReferences goes where a value is looked at once more: to the parts of a choice, and along references.
func (s *soundness) followReferences(at map[string]any) error {
	id := reflect.ValueOf(at).Pointer()
	// A schema that leads back to itself for the same value would never be done.
	if following, ok := s.seen[id]; ok {
		if following {
			return errors.New("it leads back to itself")
		}
		return nil
	}
	s.seen[id] = true
	defer func() { s.seen[id] = false }()
	if err := soundType(at["type"]); err != nil {
		return err
	}
	var next []any
	for name, v := range at {
		keyword, ok := inPlace(name)
		if !ok {
			continue
		}
		if name != keyword { // whoever judges takes it for the keyword
			return fmt.Errorf("`%s` is written `%s`", name, keyword)
		}
		switch v := v.(type) {
		case string:
			if !strings.HasPrefix(name, "$") {
				continue
			}
			to, err := s.resolveReference(v)
			if err != nil {
				return err
			}
			next = append(next, to)
		case []any:
			next = append(next, v...)
		case map[string]any:
			if !slices.Contains(namedSchemas, name) {
				next = append(next, v)
				continue
			}
			for _, inner := range v {
				next = append(next, inner)
			}
		}
	}
	for _, inner := range next {
		if schema, ok := inner.(map[string]any); ok {
			if err := s.followReferences(schema); err != nil {
				return err
			}
		}
	}
	return nil
}

// inPlace finds the keyword that a name stands for whose schemas are about the same value.
func inPlace(name string) (keyword string, ok bool) {
	for _, keyword := range []string{
		"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies", "$ref",
		"$dynamicRef",
	} {
		if strings.EqualFold(name, keyword) {
			return keyword, true
		}
	}
	return "", false
}

// resolveReference gives what a reference means. Reading a schema must open no file and no connection.
func (s *soundness) resolveReference(to string) (any, error) {
	path, inside := strings.CutPrefix(to, "#")
	if !inside || path != "" && !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("it refers to %s; a schema must be whole, and its references like #/$defs/NAME", to)
	}
	var v any = s.root
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		// As JSON pointers write / and ~.
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, fmt.Errorf("it refers to %s, which is not there", to)
			}
			v = in[i]
		default:
			return nil, fmt.Errorf("it refers to %s, which is not there", to)
		}
	}
	return v, nil
}

func soundType(v any) error {
	names := textList(v)
	if name, ok := v.(string); ok {
		names = []string{name}
	}
	for _, name := range names {
		if _, ok := typeWords[name]; !ok {
			return fmt.Errorf("there is no type %q", name)
		}
	}
	return nil
}
