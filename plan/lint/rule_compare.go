package lint

import (
	"moon/internal/pattern"
	"moon/plan/playbook"
)

// literalCompare: a condition is true or false already.
var literalCompare = Rule{ID: "literal-compare", About: "comparisons with true and false", condition: checkLiteralCompare}

var literal = pattern.New(`(?:==|!=)\s*(?:[Tt]rue|[Ff]alse)\b`)

func checkLiteralCompare(r *report, v playbook.Value) {
	text := v.Text()
	if m := literal.FindStringIndex(text); m != nil {
		r.add(v.PosAt(m[0]), m[1]-m[0], nil, "write the value alone, or not in front of it; `| bool` makes one of a text", "a comparison with true or false")
	}
}
