package becoming_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"moon/exec/becoming"
)

// TestRead reads flags as they stand in playbooks, and compares what would be passed on.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		method, text, kept string
		words              []string
	}{
		{"", "-H -S -n", "", []string{"-H"}},
		{"sudo", "-HSn", "", []string{"-H"}},
		{"sudo", "--set-home --stdin --non-interactive -p 'who are you'", "", []string{"-H"}},
		{"sudo", "", "-n", nil},
		{"sudo", "-n", "-n", nil},
		{"sudo", "-i", "-i", []string{"-i"}},
		{"sudo", "-H -S -n -E", "-H -E", []string{"-H", "-E"}},
		{"sudo", "--preserve-env=A,B --login", "'--preserve-env=A,B' -i", []string{"--preserve-env=A,B", "-i"}},
		{"sudo", "-gusers --group='two words'", "-g users -g 'two words'", []string{"-g", "users", "-g", "two words"}},
		{"su", "", "", nil},
		{"su", "-", "-l", []string{"-l"}},
		{"su", "-s /bin/sh --login", "-s /bin/sh -l", []string{"-s", "/bin/sh", "-l"}},
		{"doas", "-n", "", nil},
	} {
		kept, err := becoming.Read(c.method, c.text)
		if err != nil || kept != c.kept {
			t.Errorf("%s %q: %q, %v; want %q", c.method, c.text, kept, err, c.kept)
		}
		if words := becoming.Words(c.method, kept); !slices.Equal(words, c.words) {
			t.Errorf("%s %q: %q, want %q", c.method, c.text, words, c.words)
		}
	}
}

// TestRefuses reads flags that moon cannot honour.
func TestRefuses(t *testing.T) {
	for _, c := range []struct{ method, text, message, hint string }{
		{"sudo", "-A", "moon cannot pass `-A` to sudo", "--ask-become-pass"},
		{"sudo", "-Hb", "moon cannot pass `-b` to sudo", "input and output"},
		{"sudo", "--user ada", "moon cannot pass `--user` to sudo", "`become_user`"},
		{"sudo", "-g", "`-g` of sudo takes a value", "behind"},
		{"sudo", "--login=yes", "`--login` of sudo takes no value", "remove it"},
		{"sudo", "--nonsense", "`--nonsense` is not a flag of sudo", "man sudo"},
		{"sudo", "A=1", "`A=1` is not a flag of sudo", "`environment`"},
		{"sudo", "-g $HOME", "only a shell knows", "without variables"},
		{"sudo", "-g 'half", "cannot be taken apart", "command line"},
		{"su", "-P", "moon cannot pass `-P` to su", "input and output"},
		{"doas", "-s", "moon cannot pass `-s` to doas", "remove it"},
		{"doas", "-E", "`-E` is not a flag of doas", "man doas"},
	} {
		_, err := becoming.Read(c.method, c.text)
		refused, ok := errors.AsType[*becoming.FlagsError](err)
		if !ok || !strings.Contains(refused.Message, c.message) || !strings.Contains(refused.Hint, c.hint) {
			t.Errorf("%s %q: %v", c.method, c.text, err)
		}
	}
}

// TestHas tells flags from values of others.
func TestHas(t *testing.T) {
	words := []string{"-g", "-i", "-E"}
	if becoming.Has("sudo", words, "i") || !becoming.Has("", words, "E") {
		t.Error("the value of a flag is taken for one")
	}
}
