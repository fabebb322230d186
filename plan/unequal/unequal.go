package unequal

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/plan/playbook"
)

// mixedTypes are comparisons of the fields whose type is known with a constant of another.
var mixedTypes = []struct {
	pattern     *pattern.Pattern // the name, the field, the constant
	field, with string
	hint        func(name, field, constant string) string
}{
	{
		pattern.New(`\b(\w+)\.(rc|attempts)\s*[!=]=\s*('-?\d+'|"-?\d+")`), "a number", "a string",
		func(_, _, constant string) string { return "write " + strings.Trim(constant, `'"`) + " without quotes" },
	},
	{
		pattern.New(`\b(\w+)\.(stdout|stderr)\s*[!=]=\s*(-?\d+)(?:\s|\)|$)`), "a string", "a number",
		func(name, field, constant string) string {
			return "quote the number, '" + constant + "', or make a number of `" + name + "." + field + "`"
		},
	},
}

// comparedFields are those that mixedTypes looks for.
var comparedFields = []string{".rc", ".attempts", ".stdout", ".stderr"}

// Check warns of a condition on the result of a command that compares a number with a string. is says whose result a name has.
func Check(v playbook.Value, chain []string, report func(diag.Diagnostic), is func(name string) bool) {
	text := v.Text()
	// The patterns take longer than planning all the rest of a text, and most texts compare no result.
	if !strings.Contains(text, "=") || !slices.ContainsFunc(comparedFields, func(field string) bool { return strings.Contains(text, field) }) {
		return
	}
	for _, mixed := range mixedTypes {
		for _, m := range mixed.pattern.FindAllStringSubmatchIndex(text, -1) {
			name, field, constant := text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]]
			// After a dot it is a field of something else, and not a variable.
			if m[2] > 0 && text[m[2]-1] == '.' || !is(name) {
				continue
			}
			report(diag.Diagnostic{
				Severity: diag.Warning, Pos: v.PosAt(m[2]), Width: utf8.RuneCountInString(text[m[2]:m[7]]), Chain: chain,
				Message: "`" + name + "." + field + "` is " + mixed.field + " and " + constant + " " + mixed.with +
					": they are never equal",
				Hint: mixed.hint(name, field, constant),
			})
		}
	}
}
