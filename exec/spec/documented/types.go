package documented

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"moon/internal/pattern"
	names "moon/internal/suggest"
)

// The words that Ansible takes for truth values, in any case.
var (
	trueWords  = []string{"y", "yes", "on", "1", "true", "t", "1.0"}
	falseWords = []string{"n", "no", "off", "0", "false", "f", "0.0"}
)

// sizes are numbers with a unit, as the types bytes and bits have them.
var sizes = pattern.New(`^\s*[0-9]*\.?[0-9]+\s*([KMGTPEZY]?(b|B|bit|bits|Bits?|byte|bytes|Bytes?)?)?\s*$`)

// fits reports whether a module takes a value for a type. What it makes of it is its own business.
func fits(typ string, v any) bool {
	word, isText := v.(string)
	switch typ {
	case "bool":
		if isText {
			lower := strings.ToLower(strings.TrimSpace(word))
			return slices.Contains(trueWords, lower) || slices.Contains(falseWords, lower)
		}
		_, isBool := v.(bool)
		n, isNumber := number(v)
		return isBool || isNumber && (n == 0 || n == 1)
	case "int":
		if isText {
			_, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(word), "_", ""), 10, 64)
			return err == nil
		}
		_, isBool := v.(bool)
		n, isNumber := number(v)
		return isBool || isNumber && n == math.Trunc(n)
	case "float":
		if isText {
			_, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
			return err == nil
		}
		_, isNumber := number(v)
		return isNumber
	case "list":
		_, isMap := v.(map[string]any)
		_, isBool := v.(bool)
		return !isMap && !isBool
	case "dict":
		if isText {
			return strings.HasPrefix(word, "{") || strings.Contains(word, "=")
		}
		_, isMap := v.(map[string]any)
		return isMap
	case "bytes", "bits":
		if isText {
			return sizes.MatchString(word)
		}
		_, isNumber := number(v)
		return isNumber
	case "path":
		switch v.(type) {
		case []any, map[string]any:
			return false
		}
	}
	return true // str, raw, json: whatever it is, a text is made of it
}

// number is a value as a number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// elements are the items of what is taken as a list.
func elements(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case string:
		var items []any
		for part := range strings.SplitSeq(v, ",") {
			items = append(items, strings.TrimSpace(part))
		}
		return items
	}
	return []any{v}
}

// text is a scalar as a person would write it.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool, int, int64, uint64, float64, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// isChoice reports whether a value is one of some words. YAML makes yes and no truth values, and the module knows.
func isChoice(words []string, v any) bool {
	got := text(v)
	return slices.ContainsFunc(words, func(word string) bool {
		if word == got {
			return true
		}
		if _, isMap := v.(map[string]any); isMap {
			return false
		}
		lower, want := strings.ToLower(got), strings.ToLower(word)
		return slices.Contains(trueWords, lower) && slices.Contains(trueWords, want) ||
			slices.Contains(falseWords, lower) && slices.Contains(falseWords, want)
	})
}

var words = map[string][2]string{
	"bool": {"true or false", "truth values"}, "int": {"a whole number", "whole numbers"}, "float": {"a number", "numbers"},
	"list": {"a list", "lists"}, "dict": {"a map", "maps"}, "path": {"a path", "paths"}, "bytes": {"a size, such as 10M", "sizes"},
	"bits": {"a size, such as 10Mb", "sizes"}, "raw": {"any value", "any values"}, "json": {"JSON", "JSON"}, "jsonarg": {"JSON", "JSON"},
	"sid": {"a text", "texts"},
}

// TypeWord is what an option takes, in words.
func (o *Option) TypeWord() string {
	if o.Type == "list" && o.Elements != "" {
		return "a list of " + pluralWord(o.Elements)
	}
	return typeWord(o.Type)
}

func typeWord(typ string) string {
	if pair, ok := words[typ]; ok {
		return pair[0]
	}
	return "a text"
}

func pluralWord(typ string) string {
	if pair, ok := words[typ]; ok {
		return pair[1]
	}
	return "texts"
}

// describe names a value in an error.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	default:
		return fmt.Sprint(v)
	}
}

func suggest(name string, options []Option) string {
	known := make([]string, len(options))
	for i := range options {
		known[i] = options[i].Name
	}
	return names.DidYouMean(name, known)
}

func suggestWord(word string, known []string) string { return names.DidYouMean(word, known) }
