package install

import (
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// operators are those of ranges of versions, the longer ones first.
var operators = []struct {
	sign  string
	holds func(compared int) bool
}{
	{">=", func(c int) bool { return c >= 0 }},
	{"<=", func(c int) bool { return c <= 0 }},
	{"!=", func(c int) bool { return c != 0 }},
	{"==", func(c int) bool { return c == 0 }},
	{">", func(c int) bool { return c > 0 }},
	{"<", func(c int) bool { return c < 0 }},
	{"=", func(c int) bool { return c == 0 }},
	{"", func(c int) bool { return c == 0 }},
}

// semantic is a version as the library has it; "" for what is none. A short one stands for the first of its kind.
func semantic(version string) string {
	v := "v" + strings.TrimPrefix(strings.TrimSpace(version), "v")
	if !semver.IsValid(v) {
		return ""
	}
	return v
}

// bounds takes a range apart, such as ">=1.2,<2". A part without an operator is one version.
func bounds(wanted string, visit func(part, version string, holds func(compared int) bool) bool) bool {
	for part := range strings.SplitSeq(wanted, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || part == "" {
			continue
		}
		for _, op := range operators {
			if rest, ok := strings.CutPrefix(part, op.sign); ok {
				if !visit(part, semantic(rest), op.holds) {
					return false
				}
				break
			}
		}
	}
	return true
}

// admits reports whether a version is in a range.
func admits(wanted, version string) bool {
	if version == wanted {
		return true
	}
	v := semantic(version)
	return bounds(wanted, func(_, bound string, holds func(int) bool) bool {
		return v != "" && bound != "" && holds(semver.Compare(v, bound))
	})
}

// rangeProblem says what is wrong with a range of versions; "" for nothing.
func rangeProblem(wanted string) (wrong string) {
	bounds(wanted, func(part, bound string, _ func(int) bool) bool {
		if bound == "" {
			wrong = "`" + part + "` is not a version, and no range such as `>=1.2.0,<2`"
		}
		return bound != ""
	})
	return wrong
}

// isPrerelease reports whether a version comes before the one that it names.
func isPrerelease(version string) bool { return semver.Prerelease(semantic(version)) != "" }

// names reports whether a range names exactly a version: who names one that is not finished wants it.
func names(wanted, version string) bool {
	return strings.TrimLeft(strings.TrimSpace(wanted), "= ") == version
}

// newestFirst sorts versions. What is no version comes last, in the order of texts.
func newestFirst(versions []string) {
	slices.SortStableFunc(versions, func(a, b string) int {
		va, vb := semantic(a), semantic(b)
		if va == "" && vb == "" {
			return strings.Compare(b, a)
		}
		return semver.Compare(vb, va) // what is not valid is less than what is
	})
}
