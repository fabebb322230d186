package spec

import (
	"maps"
	"slices"
	"strings"

	"moon/internal/pattern"
)

// packageReturns are what every action for packages returns.
var packageReturns = []Return{
	{"packages", "What was installed, upgraded and removed, also for the sake of others: each has name, from and to, which are versions."},
	{"cache_updated", "Whether the package lists have changed."},
	{"cache_update_time", "When they were last fetched, in seconds since 1970."},
}

// packageNames takes the names of packages as they are written: text with commas is several. None can be taken for an
// option of a package manager.
func packageNames(names []string, right *pattern.Pattern, hint string) (all []string, problems []Problem) {
	if len(names) == 1 {
		names = strings.Split(names[0], ",")
	}
	for _, name := range names {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(all, name):
		case !right.MatchString(name):
			problems = append(problems, Problem{"name", "`name` has " + nameValue(name) + ", which is not a package name", hint})
		default:
			all = append(all, name)
		}
	}
	return all, problems
}

// packagePattern is what package managers other than apt may take: names, versions, groups, files and addresses.
var packagePattern = pattern.New(`^[a-zA-Z0-9@*?/._\[(+][^\s'"` + "`" + `;$\\]*( [<>=]+ [^\s]+)?$`)

// wantsPackages reports the problem of a step that asks a package manager for nothing.
func wantsPackages(action, ways string, anything bool) []Problem {
	if anything {
		return nil
	}
	return []Problem{{"", "`" + action + "` has nothing to do", "give " + ways}}
}

// optionWords reports values that a package manager would take for options.
func optionWords(fields map[string][]string) (problems []Problem) {
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[field] {
			if strings.HasPrefix(value, "-") {
				problems = append(problems,
					Problem{field, "`" + field + "` has " + nameValue(value) + ", which begins with a hyphen", "leave the hyphens out"})
			}
		}
	}
	return problems
}

// extraWords splits options into words.
func extraWords(field, text string) ([]string, []Problem) {
	words, err := Words(text)
	if err != nil {
		return nil, []Problem{{field, "`" + field + "` " + err.Error(), ""}}
	}
	return words, nil
}
