package manual

import (
	"fmt"
	"io"
	"strings"

	"moon/internal/app"

	"github.com/alecthomas/kong"
)

// Completion prints a completion script.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says how to use the script.
func (Completion) Help() string {
	return `For bash, in ~/.bashrc; for zsh and fish, once:

  source <(moon completion bash)
  moon completion zsh > "${fpath[1]}/_moon"
  moon completion fish > ~/.config/fish/completions/moon.fish`
}

// Run prints the script.
func (c *Completion) Run(call *app.Invocation, ctx *kong.Context) error {
	write := map[string]func(*kong.Node) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	return printTo(call.Out, write(ctx.Model.Node))
}

func printTo(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// flagsOf are a command's flags as a person types them, with what they are for.
func flagsOf(n *kong.Node) (flags []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		flags = append(flags, group...)
	}
	return flags
}

func commands(root *kong.Node) (list []*kong.Node) {
	for _, n := range root.Children {
		if n.Type == kong.CommandNode && !n.Hidden {
			list = append(list, n)
		}
	}
	return list
}

func names(root *kong.Node) string {
	var words []string
	for _, n := range commands(root) {
		words = append(words, n.Name)
	}
	return strings.Join(words, " ")
}

// bashCompletion completes commands, flags, the words of a flag that takes one of a few, and files for the rest.
func bashCompletion(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("# bash completion for moon\n_moon() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}\n")
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W %q -- \"$cur\")); return; fi\n", names(root))
	b.WriteString("  case $cmd in\n")
	for _, n := range commands(root) {
		var flags []string
		fmt.Fprintf(&b, "  %s)\n    case $prev in\n", n.Name)
		for _, f := range flagsOf(n) {
			flags = append(flags, "--"+f.Name)
			if f.Enum != "" {
				fmt.Fprintf(&b, "    --%s) COMPREPLY=($(compgen -W %q -- \"$cur\")); return;;\n", f.Name,
					strings.ReplaceAll(f.Enum, ",", " "))
			}
		}
		fmt.Fprintf(&b, "    esac\n    case $cur in -*) COMPREPLY=($(compgen -W %q -- \"$cur\")); return;; esac;;\n",
			strings.Join(flags, " "))
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -f -- \"$cur\"))\n}\ncomplete -o filenames -F _moon moon\n")
	return b.String()
}

// zshQuote makes a text safe inside a single-quoted _arguments specification.
var zshQuote = strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`)

func zshCompletion(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("#compdef moon\n_moon() {\n  local -a commands\n  commands=(\n")
	for _, n := range commands(root) {
		fmt.Fprintf(&b, "    '%s:%s'\n", n.Name, zshQuote.Replace(n.Help))
	}
	b.WriteString("  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  case $words[2] in\n")
	for _, n := range commands(root) {
		fmt.Fprintf(&b, "  %s) shift words; (( CURRENT-- )); _arguments \\\n", n.Name)
		for _, f := range flagsOf(n) {
			fmt.Fprintf(&b, "    '--%s[%s]%s' \\\n", f.Name, zshQuote.Replace(f.Help), zshValue(f))
		}
		b.WriteString("    '*:file:_files';;\n")
	}
	b.WriteString("  esac\n}\n_moon \"$@\"\n")
	return b.String()
}

func zshValue(f *kong.Flag) string {
	switch {
	case f.IsBool():
		return ""
	case f.Enum != "":
		return ":" + f.Name + ":(" + strings.ReplaceAll(f.Enum, ",", " ") + ")"
	}
	return ":" + f.Name + ":_files"
}

func fishCompletion(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("# fish completion for moon\n")
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, n := range commands(root) {
		fmt.Fprintf(&b, "complete -c moon -n __fish_use_subcommand -f -a %s -d %s\n", n.Name, quote(n.Help))
		for _, f := range flagsOf(n) {
			fmt.Fprintf(&b, "complete -c moon -n '__fish_seen_subcommand_from %s' -l %s -d %s", n.Name, f.Name, quote(f.Help))
			if f.Short != 0 {
				fmt.Fprintf(&b, " -s %c", f.Short)
			}
			if f.Enum != "" {
				fmt.Fprintf(&b, " -x -a %s", quote(strings.ReplaceAll(f.Enum, ",", " ")))
			} else if !f.IsBool() {
				b.WriteString(" -r")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
