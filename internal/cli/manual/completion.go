package manual

import (
	"io"

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
func (c *Completion) Run(call *app.Invocation) error { return printTo(call.Out, scripts[c.Shell]) }

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

// scripts have moon say what may follow (moon complete), so that they are the same for all of its versions. The program is the one that is
// typed. Of what it prints, the first line says whether names of files may follow as well.
var scripts = map[string]string{
	"bash": `# bash completion for moon
_moon() {
  local cur=${COMP_WORDS[COMP_CWORD]} line
  local -a out=()
  COMPREPLY=()
  while IFS= read -r line; do out+=("$line"); done < <("${COMP_WORDS[0]}" complete bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [ "$cur" = = ] && cur=
  case ${out[0]:-files} in
  files) compopt -o filenames; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur");;
  dirs) compopt -o filenames; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur");;
  esac
  for line in "${out[@]:1}"; do
    line=${line%%$'\t'*}
    [[ ${out[0]} = words && $line = *[!A-Za-z0-9_./:,=@%+-]* ]] && printf -v line %q "$line"
    COMPREPLY+=("$line")
  done
}
complete -F _moon moon
`,
	"zsh": `#compdef moon
_moon() {
  local -a out values shown
  local line
  out=("${(@f)$("${words[1]}" complete zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  [[ $PREFIX == --*=* ]] && compset -P '*='
  for line in "${(@)out[2,-1]}"; do
    values+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  (( $#values )) && compadd -l -d shown -a values
  case ${out[1]:-files} in
  files) _files;;
  dirs) _files -/;;
  esac
}
if [ "$funcstack[1]" = _moon ]; then _moon "$@"; else compdef _moon moon; fi
`,
	"fish": `# fish completion for moon
function __moon_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l out ($words[1] complete fish -- $words[2..-1] 2>/dev/null)
  if set -q out[2]
    printf '%s\n' $out[2..-1]
  end
  switch "$out[1]"
    case files ''
      __fish_complete_path (commandline -ct)
    case dirs
      __fish_complete_directories (commandline -ct)
  end
end
complete -c moon -f -a '(__moon_complete)'
`,
}
