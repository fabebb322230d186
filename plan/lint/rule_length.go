package lint

import (
	"strconv"
	"unicode/utf8"

	"moon/plan/playbook"
)

// nameLength: a name has to fit on a line of a report.
var nameLength = Rule{ID: "name-length", About: "names that are longer than 100 characters", task: checkNameLength}

const longestName = 100

func checkNameLength(r *report, t *playbook.Task) {
	if n := utf8.RuneCountInString(t.Name.Text()); n > longestName {
		r.add(t.Name.Pos(), 1, nil, "say the rest in a comment", "this name has "+strconv.Itoa(n)+" characters")
	}
}
