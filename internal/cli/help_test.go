package cli

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestHelpExamples lets the help of every command show how it is called, and parses what it shows.
func TestHelpExamples(t *testing.T) {
	newParser := func(grammar any) *kong.Kong { // one parses one call
		parser, err := kong.New(grammar, options(kong.Exit(func(int) {}))...)
		if err != nil {
			t.Fatal(err)
		}
		return parser
	}
	for _, command := range newParser(&cli{}).Model.Leaves(true) {
		name, shown := command.FullPath(), 0
		for line := range strings.Lines(command.Detail) {
			text := strings.TrimSpace(line)
			if !strings.HasPrefix(line, "  ") || !strings.HasPrefix(text, "moon ") && !strings.HasPrefix(text, "source <(moon ") {
				continue
			}
			text = strings.TrimSuffix(strings.TrimPrefix(text, "source <("), ")")
			text, _, _ = strings.Cut(text, " > ")
			text, _, _ = strings.Cut(text, " | ")
			shown++
			args := words(text)[1:]
			parser := newParser(grammarFor(args).Interface())
			if n := len(parser.Model.Children); n != 1 && args[0] != "completion" && args[0] != "man" {
				t.Errorf("%s needs the grammar of %d commands", text, n)
			}
			ctx, err := parser.Parse(args)
			if err != nil {
				t.Errorf("the help of %s shows a call that is refused: %s: %v", name, text, err)
			} else if got := ctx.Selected().FullPath(); got != name {
				t.Errorf("the help of %s shows a call of %s: %s", name, got, text)
			}
		}
		if shown == 0 {
			t.Errorf("the help of %s shows no example", name)
		}
		for _, f := range command.Flags {
			if f.Group == nil {
				continue
			}
			if f.Group.Title == f.Group.Key {
				t.Errorf("%s: the group %s of --%s has no heading", name, f.Group.Key, f.Name)
			}
		}
	}
}

// words splits a line as a shell does, as far as help needs it: at spaces outside single quotes.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	return list
}
