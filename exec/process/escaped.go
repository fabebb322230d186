package process

import (
	"fmt"
	"strings"
)

// MarkVariable is the environment variable that tells the processes of one attempt from all others, also those that have
// left their group: RUN/STEP.ATTEMPT. A moon that is itself a step adds its own behind a comma.
const MarkVariable = "MOON_ATTEMPT"

// NestMark is the value of the mark for the processes of an attempt of a moon whose own is outer.
func NestMark(outer, attempt string) string {
	if outer == "" {
		return attempt
	}
	return outer + "," + attempt
}

// orphan is a process that is not in the group of the one that started it.
type orphan struct {
	pid  int
	name string // its command line
}

// DescribeOrphans words them for people.
func DescribeOrphans(list []orphan) string {
	const most = 5
	parts := make([]string, 0, most+1)
	for i, e := range list {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		name := []rune(strings.Join(strings.Fields(e.name), " "))
		if len(name) > 100 {
			name = append(name[:100], '…')
		}
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", e.pid, string(name))))
	}
	return strings.Join(parts, ", ")
}
