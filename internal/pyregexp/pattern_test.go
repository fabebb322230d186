package pyregexp_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"moon/internal/pyregexp"
)

// TestFind looks where matches and their groups are: in bytes, whichever matcher finds them.
func TestFind(t *testing.T) {
	const text = "é=1, \xff=22, ü=333"
	for _, pattern := range []string{`([^ ]+)=(\d+)`, `(?=.)([^ ]+)=(\d+)`, `([^ ]+)=(?!x)(\d+)(?:)`} {
		re, err := pyregexp.Compile(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		all, err := re.FindAll(text, -1)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, m := range all {
			found = append(found, text[m[2]:m[3]]+":"+text[m[4]:m[5]])
		}
		if want := []string{"é:1", "\xff:22", "ü:333"}; !slices.Equal(found, want) || re.Groups() != 2 {
			t.Errorf("%s: %q, %d groups", pattern, found, re.Groups())
		}
	}
	for pattern, flags := range map[string]string{`^(?P<a>b)(?!c)`: "m", `(?P<a>b)$`: "m", `A(?=.)`: "is", `A\n`: "i"} {
		re, err := pyregexp.Compile(pattern, flags)
		if err != nil {
			t.Fatal(err)
		}
		at, err := re.Find("x\nb\na\n\n")
		if at == nil || err != nil || strings.Contains(pattern, "?P<a>") != (re.Group("a") == 1) {
			t.Errorf("%s: %v %v", pattern, at, err)
		}
	}
}

// TestEndless: a pattern that would try without end gives up, and so does what matches with it.
func TestEndless(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes as long as matching may")
	}
	re, err := pyregexp.Compile(`(?=a)(a+)+b`, "")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a", 60)
	if _, err := re.Match(text); !errors.Is(err, pyregexp.ErrEndless) {
		t.Error(err)
	}
	wrong := errors.New("already")
	if re.Matching(&wrong)("ab") {
		t.Error("it goes on")
	}
}
