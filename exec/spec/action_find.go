package spec

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"moon/internal/pattern"
	"moon/internal/pyregexp"
)

// FindArgs are the arguments of find. Once decoded, the tests are ready to use.
type FindArgs struct {
	Paths    []string `arg:"paths,path,name" kind:"paths" need:"yes" doc:"The directories to look in."`
	Patterns []string `arg:"patterns,pattern" doc:"Shell patterns of names, such as *.log; one is enough. With use_regex they are (Python) regular expressions for the beginning of the name. Several shell patterns may be given as text with commas."`
	Excludes []string `arg:"excludes,exclude" doc:"The same for names to exclude."`
	UseRegex bool     `arg:"use_regex" default:"false" doc:"Treat patterns and excludes as regular expressions."`
	FileType string   `arg:"file_type" default:"file" enum:"file|directory|link|any" doc:"What to find."`
	Recurse  bool     `arg:"recurse" default:"false" doc:"Also look in subdirectories."`
	Depth    int      `arg:"depth" implied:"no end" doc:"How deep, with recurse; 1: only in the directories themselves."`
	Hidden   bool     `arg:"hidden" default:"false" doc:"Also find names that begin with a dot."`
	Follow   bool     `arg:"follow" default:"false" doc:"With recurse, follow links to directories."`
	Age      string   `arg:"age" doc:"Minimum age, or with a minus maximum age: seconds, or 5m, 2h, 1d, 1w."`
	Stamp    string   `arg:"age_stamp" default:"mtime" enum:"atime|ctime|mtime" doc:"The time that age refers to."`
	Size     string   `arg:"size" doc:"Minimum size, or with a minus maximum size: bytes, or 10k, 5m, 1g, 1t."`
	Contains string   `arg:"contains" doc:"Files with a line that begins with a match of this regular expression."`
	Whole    bool     `arg:"read_whole_file" default:"false" doc:"Look for contains in each file as a whole, and not line by line: it may match anywhere, and over several lines."`
	Checksum bool     `arg:"get_checksum" default:"false" doc:"Read the files for their checksum, which is SHA-1."`

	Wanted, Unwanted []*pyregexp.Pattern
	Text             *pyregexp.Pattern
	Seconds, Bytes   int64 // below 0: at most; what is not given is 0 or empty
}

var _ = declareAction(&Action{
	Name:  "find",
	Doc:   "Lists files or directories by name, age, size and content, and changes nothing.",
	Check: true,
	args:  reflect.TypeFor[FindArgs](),
	Returns: []Return{
		{"files", "What was found, sorted by path in the order of paths; each is what stat returns, without who may read it."},
		{"matched", "How many were found."},
		{"examined", "How many were looked at."},
		{"skipped_paths", "Directories that could not be read, with the reason."},
		{"msg", "Whether everything could be read."},
	},
	Least: "find: {paths: [/nowhere, x]}",
	Example: `- find: {paths: /var/log, patterns: "*.gz,*.old", age: 30d, recurse: true}
  register: old
- print: "{{ old.files | map(attribute='path') | join(' ') }}"
`,
})

func (a *FindArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	names := func(field string, patterns []string) (all []*pyregexp.Pattern) {
		// Ansible splits a text at its commas, but not a regular expression.
		if len(patterns) == 1 && !a.UseRegex {
			patterns = strings.Split(patterns[0], ",")
		}
		for _, p := range patterns {
			if !a.UseRegex {
				// Ansible matches a whole name by a pattern, and its beginning by a regular expression.
				p = globPattern(strings.TrimSpace(p)) + `\Z`
			}
			_, wrong := compilePattern(field, p, "s") // alone, so that a message shows what is written
			if len(wrong) == 0 {
				var re *pyregexp.Pattern
				re, wrong = compilePattern(field, `\A(?:`+p+`)`, "s")
				all = append(all, re)
			}
			problems = append(problems, wrong...)
		}
		return all
	}
	a.Wanted, a.Unwanted = names("patterns", a.Patterns), names("excludes", a.Excludes)
	if a.Contains != "" {
		var wrong []Problem
		pattern := `\A(?:` + a.Contains + `)`
		if a.Whole {
			pattern = a.Contains
		}
		a.Text, wrong = compilePattern("contains", pattern, "")
		problems = append(problems, wrong...)
	}
	var ok bool
	if a.Seconds, ok = parseAmount(a.Age, map[string]int64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}); !ok {
		add("age", "`age` must be a number with s, m, h, d or w, such as 2d", "")
	}
	if a.Bytes, ok = parseAmount(a.Size, map[string]int64{"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}); !ok {
		add("size", "`size` must be a number with b, k, m, g or t, such as 10k", "")
	}
	if given("depth") && a.Depth < 1 {
		add("depth", "`depth` must be 1 or more", "")
	}
	return problems
}

// parseAmount reads a number with a unit; nothing is 0.
func parseAmount(text string, units map[string]int64) (int64, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return 0, true
	}
	// All letters of all units, so that a wrong one is found in the table and refused.
	number := strings.TrimRight(text, "bdghkmstw")
	n, err := strconv.ParseInt(number, 10, 32)
	unit, known := units[text[len(number):]]
	return n * unit, err == nil && known
}

// globPattern is a shell pattern of a name as a regular expression. A bracket that is not closed stands for itself.
func globPattern(glob string) string {
	var b strings.Builder
	for len(glob) > 0 {
		n := 1
		// A list in brackets is taken over, except for what only regular expressions know.
		if m := globList.FindStringSubmatch(glob); m != nil {
			not := strings.Replace(m[1], "!", "^", 1)
			b.WriteString("[" + not + strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`, `]`, `\]`).Replace(m[2]) + "]")
			n = len(m[0])
		} else {
			switch glob[0] {
			case '*':
				b.WriteString(".*")
			case '?':
				b.WriteByte('.')
			default:
				b.WriteString(regexp.QuoteMeta(glob[:1]))
			}
		}
		glob = glob[n:]
	}
	return b.String()
}

var globList = pattern.New(`^\[(!?)(\]?[^\]]*)\]`)
