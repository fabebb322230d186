package spec

import "reflect"

// CommandArgs are the arguments of command. Once decoded, Argv has the words in either form.
type CommandArgs struct {
	Argv         []string `arg:"argv" doc:"The command and its arguments, one in each entry."`
	Cmd          string   `arg:"cmd,_raw_params" doc:"The same as text, split into words like a shell command, but without any expansion."`
	Stdin        *string  `arg:"stdin" doc:"Text for the command's standard input. Default: empty."`
	StdinNewline bool     `arg:"stdin_add_newline" default:"true" doc:"In a play, add a newline to stdin, as Ansible does. In a list of steps stdin is sent unchanged."`
	WithinArgs
}

var _ = declareAction(&Action{
	Name:     "command",
	Doc:      "Runs a program without a shell. Its result counts as a change unless changed_when says otherwise.",
	Free:     "cmd",
	Command:  true,
	Process:  "*",
	FreeList: "argv",
	Changes:  true,
	Dropped:  []string{"warn"},
	args:     reflect.TypeFor[CommandArgs](),
	Returns:  processReturns,
	Least:    "command: [x]",
	Example: `- command: [git, clone, "{{ repo }}", /srv/app]
- command: git -C /srv/app status --porcelain
  changed_when: false
`,
})

func (a *CommandArgs) validateArgs(given func(string) bool) []Problem {
	switch {
	case given("argv") && given("cmd"):
		return []Problem{{"argv", "`argv` and `cmd` are two ways to say the same", "give one of them"}}
	case given("cmd"):
		words, err := Words(a.Cmd)
		if err != nil {
			return []Problem{{"cmd", "`cmd` " + err.Error(), "quote it, or give a list of words"}}
		}
		a.Argv = words
	}
	if len(a.Argv) == 0 || a.Argv[0] == "" {
		return []Problem{{"", "`command` has nothing to run", "give a list of words, or text"}}
	}
	return nil
}
