package expr

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/file"

	"moon/plan/eval/value"
)

// exprSyntax words an error of expr's parser or type checker.
func exprSyntax(err error, source Excerpt) *value.Error {
	// An error of moon's own functions has its words and place already.
	if own, ok := value.AsError(err); ok {
		return own
	}
	e := &value.Error{Message: "the expression cannot be understood", Offset: -1}
	if fe, ok := errors.AsType[*file.Error](err); ok {
		e.Message = exprSentence(fe.Message)
		e.Offset = source.byteOffset(fe.From)
		e.Width = max(0, source.byteOffset(fe.To)-e.Offset)
	}
	return e
}

// exprFailure words an error of a running expression.
func exprFailure(err error, source Excerpt) error {
	if own, ok := value.AsError(err); ok {
		return own
	}
	e := &value.Error{Kind: value.Failure, Message: "the expression cannot be evaluated", Offset: -1}
	fe, ok := errors.AsType[*file.Error](err)
	if !ok {
		return e
	}
	e.Message = exprSentence(fe.Message)
	e.Offset = source.byteOffset(fe.From)
	e.Width = max(0, source.byteOffset(fe.To)-e.Offset)
	// expr has no kinds of error: its words are all there is to go by.
	switch {
	case strings.HasPrefix(fe.Message, "interface conversion"), strings.HasPrefix(fe.Message, "invalid operation"),
		strings.HasPrefix(fe.Message, "invalid argument"), strings.HasPrefix(fe.Message, "cannot fetch"):
		e.Kind = value.TypeError
	}
	// The message is in moon's words by now, so these are searched for.
	if e.Kind == value.TypeError && strings.Contains(e.Message, "a string") && strings.Contains(e.Message, "a number") {
		e.Hint = "turn the string into a number with `int(…)` or `float(…)`"
	}
	return e
}

// goTypes are Go's names of types as they turn up in expr's messages.
var goTypes = strings.NewReplacer(
	"map[string]interface {}", "a map", "[]interface {}", "a list", "interface {} is nil", "null", "interface {} is ", "", "<nil>", "null",
	"float64", "a number", "string", "a string", "int", "a number", "bool", "true or false", "unknown", "a value", "[]uint8", "a string",
)

// exprPhrases are the messages of expr that people run into, by how they begin, with our words for the rest.
var exprPhrases = []struct {
	begins string
	words  func(rest string) string
}{
	// interface {} is string, not bool
	{"interface conversion: ", func(rest string) string {
		found, wanted, _ := strings.Cut(rest, ", not ")
		return "needs " + goTypes.Replace(wanted) + ", not " + goTypes.Replace(found)
	}},
	// + (mismatched types int and string), or: int + string
	{"invalid operation: ", func(rest string) string {
		op, types, atCompile := strings.Cut(rest, " (mismatched types ")
		left, right, _ := strings.Cut(strings.TrimSuffix(types, ")"), " and ")
		if !atCompile {
			words := strings.Fields(strings.ReplaceAll(rest, "interface {}", "interface{}"))
			if len(words) != 3 {
				return "this operation is not possible"
			}
			left, op, right = words[0], words[1], words[2]
		}
		spaced := func(s string) string { return goTypes.Replace(strings.ReplaceAll(s, "interface{}", "interface {}")) }
		return "`" + op + "` does not work on " + spaced(left) + " and " + spaced(right)
	}},
	// len (type <nil>)
	{"invalid argument for ", func(rest string) string {
		name, found, _ := strings.Cut(strings.TrimSuffix(rest, ")"), " (type ")
		return "`" + name + "` does not work on " + goTypes.Replace(found)
	}},
	// x from []interface {}
	{"cannot fetch ", func(rest string) string {
		key, of, _ := strings.Cut(rest, " from ")
		return goTypes.Replace(of) + " has no `" + key + "`"
	}},
	// 5 (array length is 3)
	{"index out of range: ", func(rest string) string {
		i, length, _ := strings.Cut(rest, " (array length is ")
		return "there is no item " + i + ": the list has " + strings.TrimSuffix(length, ")")
	}},
	// Operator("="), EOF
	{"unexpected token ", func(rest string) string {
		if rest == "EOF" {
			return "unexpected end of the expression"
		}
		if _, quoted, ok := strings.Cut(rest, `("`); ok {
			rest = strings.TrimSuffix(quoted, `")`)
		}
		return "unexpected `" + rest + "`"
	}},
	{"error parsing regexp: ", func(rest string) string { return "the pattern is wrong: " + rest }},
	{"memory budget exceeded", func(string) string { return "the expression makes more than a million values" }},
	{"reflect", func(string) string { return "the expression cannot be evaluated" }},
	{"runtime error", func(string) string { return "the expression cannot be evaluated" }},
}

// exprSentence says in our words what expr complains about.
func exprSentence(s string) string {
	s = value.Sentence(s)
	// By how it begins, since the rest are names and types.
	for _, p := range exprPhrases {
		if rest, ok := strings.CutPrefix(s, p.begins); ok {
			return p.words(rest)
		}
	}
	first := min(1, len(s))
	return strings.ToLower(s[:first]) + strings.ReplaceAll(s[first:], `"`, "`")
}
