package spec_test

import (
	"strings"
	"testing"

	"moon/exec/spec"
)

// TestPatterns tries what Python spells in another way than Go, or understands differently.
func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern, line string
		want          bool
	}{
		{`^a{,2}$`, "aa", true},
		{`^a{,2}$`, "a{,2}", false},
		{`^a{,b}$`, "a{,b}", true},
		{`[{,2}]`, "x", false},
		{`a\Z`, "ba", true},
		{`a\Z`, "aZ", false},
		{`a(?# a comment, with [)b`, "ab", true},
		{`(?i)A`, "a", true},
		{`(?ai)A`, "a", true},
		{`(?u)a`, "a", true},
		{`(?a:a)`, "a", true},
		{`^\s$`, "\v", true},
		{`^[\sx]$`, "\v", true},
		{`^[^\s]$`, "\v", false},
		{`^\S$`, "\v", false},
		{`^\d$`, "٣", false},
		{`^\u00e9$`, "é", true},
		{`^\é$`, "é", true},
		{`^[]a]$`, "]", true},
		{`^[^]a]$`, "]", false},
		{`^[]{,2}]+$`, "{,2}]", true},
		{`^[[:space:]]$`, " ", true},
		{`^\[{,2}\]$`, "[[]", true},
		{`(?P<name>a)`, "a", true},
		{`\ \-\_\/\"`, ` -_/"`, true},
	}
	for _, tt := range tests {
		a, _ := spec.Lookup("lineinfile")
		got, problems := a.Decode(args{"path": "/x", "line": "x", "regexp": tt.pattern})
		if len(problems) > 0 {
			t.Errorf("%s: %v", tt.pattern, problems)
			continue
		}
		if re := got.(*spec.LineinfileArgs).Match; re.MatchString(tt.line) != tt.want {
			t.Errorf("%s, which is %s here, matches %q: %v", tt.pattern, re, tt.line, !tt.want)
		}
	}
	for pattern, hint := range map[string]string{
		`a(?=b)`: "looking ahead", `(?<!a)b`: "looking ahead", `(?P<x>a)(?P=x)`: "refer back", `(a)\1`: "refer back", `(?x)a`: "", `a++`: "",
	} {
		a, _ := spec.Lookup("lineinfile")
		_, problems := a.Decode(args{"path": "/x", "line": "x", "regexp": pattern})
		if len(problems) != 1 || (hint == "") != (problems[0].Hint == "") || !strings.Contains(problems[0].Hint, hint) {
			t.Errorf("%s: %v", pattern, problems)
		}
	}
}

func TestReplacementTemplates(t *testing.T) {
	const pattern, line = `(?P<key>\w+)=(\w*)(;)?`, "a=b"
	tests := []struct{ template, want string }{
		{`\1`, "a"},
		{`\2\1`, "ba"},
		{`\g<key>\g<2>0`, "ab0"},
		{`\g<0>`, "a=b"},
		{`[\3]`, "[]"},
		{`\\1`, `\1`},
		{`$1 ${1} &`, "$1 ${1} &"},
		{`\.\-`, `\.\-`},
		{`\t\n`, "\t\n"},
		{`\101\0`, "A\x00"},
		{"é", "é"},
	}
	for _, tt := range tests {
		a, _ := spec.Lookup("lineinfile")
		decoded, problems := a.Decode(args{"path": "/x", "line": tt.template, "regexp": pattern, "backrefs": true})
		if len(problems) > 0 {
			t.Errorf("%s: %v", tt.template, problems)
			continue
		}
		got := decoded.(*spec.LineinfileArgs)
		if s := string(got.Template.Expand(nil, line, got.Match.FindStringSubmatchIndex(line))); s != tt.want {
			t.Errorf("%s gives %q, want %q", tt.template, s, tt.want)
		}
	}
	for _, template := range []string{`\4`, `\g<no>`, `\q`, `a\`, `\g<`} {
		a, _ := spec.Lookup("lineinfile")
		if _, problems := a.Decode(args{"path": "/x", "line": template, "regexp": pattern, "backrefs": true}); len(problems) != 1 {
			t.Errorf("%s: %v", template, problems)
		}
	}
}
