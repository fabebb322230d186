package spec_test

import (
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
		{`^(?!#)`, "#x", false},
		{`^(?!.*\bremember=).*pam_unix`, "password pam_unix.so", true},
		{`(?<!a)b`, "ab", false},
		{`(?P<x>a+)-(?P=x)$`, "aa-aa", true},
		{`(a|b)\1`, "ab", false},
		{`(?=\d)\w`, "٣", false}, // ASCII's classes, also there
		{`(?!x)[[]{,2}$`, "[[", true},
		{`(?=a)a\Z`, "a\n", false},
		{`(a)?(?(1)b|c)`, "c", true},
	}
	for _, tt := range tests {
		a, _ := spec.Lookup("lineinfile")
		got, problems := a.Decode(args{"path": "/x", "line": "x", "regexp": tt.pattern})
		if len(problems) > 0 {
			t.Errorf("%s: %v", tt.pattern, problems)
			continue
		}
		if is, err := got.(*spec.LineinfileArgs).Match.Match(tt.line); is != tt.want || err != nil {
			t.Errorf("%s matches %q: %v %v", tt.pattern, tt.line, is, err)
		}
	}
	for _, pattern := range []string{`a(?=b`, `(a)\2`, `(?P=x)`, `(?x)a`, `a++`} {
		a, _ := spec.Lookup("lineinfile")
		_, problems := a.Decode(args{"path": "/x", "line": "x", "regexp": pattern})
		if len(problems) != 1 {
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
		groups, err := got.Match.Find(line)
		if s := string(got.Template.Expand(nil, line, groups)); s != tt.want || err != nil {
			t.Errorf("%s gives %q, want %q: %v", tt.template, s, tt.want, err)
		}
	}
	for _, template := range []string{`\4`, `\g<no>`, `\q`, `a\`, `\g<`} {
		a, _ := spec.Lookup("lineinfile")
		if _, problems := a.Decode(args{"path": "/x", "line": template, "regexp": pattern, "backrefs": true}); len(problems) != 1 {
			t.Errorf("%s: %v", template, problems)
		}
	}
}
