package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"moon/internal/suggest"
)

// otherFlags are flags that other programs, or their older versions, have for what moon calls otherwise.
var otherFlags = map[string]string{
	"ask-sudo-pass": "--ask-become-pass (-K)", "ask-su-pass": "--ask-become-pass (-K)", "sudo": "--become", "su": "--become",
	"sudo-user": "--become-user", "su-user": "--become-user", "inventory-file": "--inventory (-i)", "dryrun": "--check (-C)",
	"noop":      "--check (-C)",
	"only-tags": "--tags (-t)", "exclude": "--skip", "start-at-step": "--start-at", "parallel": "--forks (-f)",
}

// callHint is the way out of a mistake in a call.
func callHint(parser *kong.Kong, args []string, err error) string {
	text := err.Error()
	// Anything else in its place may be a misspelt command.
	if name, ok := strings.CutPrefix(text, "unexpected argument "); ok && looksLikePlaybook(name) && slices.Index(args, name) == 0 {
		return fmt.Sprintf("moon run %[1]s runs it, moon tui %[1]s lets you review it first, moon plan %[1]s only shows what it would do",
			name)
	}
	command := commandOf(parser, args)
	help := "moon --help shows the commands"
	if command != nil {
		help = "moon " + command.Name + " --help shows its flags"
	}
	flag, ok := strings.CutPrefix(text, "unknown flag --")
	if !ok || strings.Contains(flag, ",") { // which says what was meant
		return help
	}
	if other, ok := otherFlags[flag]; ok {
		return "moon calls it " + other + "; " + help
	}
	if command == nil {
		return help
	}
	var known []string
	for _, list := range command.AllFlags(true) {
		for _, f := range list {
			known = append(known, f.Name)
		}
	}
	// The flag exists, so only its place can be wrong: before the command.
	switch near := suggest.Nearest(flag, known); {
	case slices.Contains(known, flag):
		return fmt.Sprintf("flags of a command come after it: moon %s --%s", command.Name, flag)
	case near != "":
		return fmt.Sprintf("did you mean --%s? flags of a command come after it; %s", near, help)
	}
	return help
}

// commandOf is the command that a call names first, or nil.
func commandOf(parser *kong.Kong, args []string) *kong.Node {
	for _, arg := range args {
		for _, n := range parser.Model.Children {
			if n.Name == arg {
				return n
			}
		}
	}
	return nil
}

// looksLikePlaybook reports whether an argument is a file that moon could run.
func looksLikePlaybook(name string) bool {
	if slices.Contains([]string{".yml", ".yaml", ".json"}, filepath.Ext(name)) {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
