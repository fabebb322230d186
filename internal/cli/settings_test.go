package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"moon/config"
)

// TestSettings lets every setting be a flag that takes what the setting does, and be in the list of moon config.
func TestSettings(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	ctx, err := newParser(NewInvocation(nil, &bytes.Buffer{}, &bytes.Buffer{}), &cli{}).Parse([]string{"config"})
	if err != nil {
		t.Fatal(err)
	}
	flags := ctx.Flags()
	for _, s := range config.Settings() {
		i := slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Name == s.Flag() })
		if i < 0 {
			t.Errorf("%s is no flag", s.Name)
			continue
		}
		words := strings.FieldsFunc(flags[i].Enum, func(r rune) bool { return r == ',' })
		if s.Words != nil && flags[i].Enum != "" && !slices.Equal(words, s.Words) {
			t.Errorf("%s is one of %q, and the flag one of %q", s.Name, s.Words, words)
		}
	}
}
