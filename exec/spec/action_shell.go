package spec

import "reflect"

// ShellArgs are the arguments of shell.
type ShellArgs struct {
	Cmd          string  `arg:"cmd,_raw_params" need:"yes" doc:"What the shell runs. Any number of lines."`
	Stdin        *string `arg:"stdin" doc:"Text for the command's standard input. Default: empty."`
	Interpreter  string  `arg:"interpreter,executable" default:"/bin/sh" doc:"The shell, with options if needed: bash or bash -e. It is called with -c and the command; perl, ruby and node with -e."`
	StdinNewline bool    `arg:"stdin_add_newline" default:"true" doc:"In a play, add a newline to stdin, as Ansible does. In a list of steps stdin is sent unchanged."`
	WithinArgs
}

var _ = declareAction(&Action{
	Name:    "shell",
	Doc:     "Runs a command line in a shell. Its result counts as a change unless changed_when says otherwise.",
	Free:    "cmd",
	Command: true,
	Process: "*",
	Changes: true,
	Dropped: []string{"warn"},
	args:    reflect.TypeFor[ShellArgs](),
	Returns: processReturns,
	Least:   "shell: x",
	Example: `- name: build
  shell: make all | tee build.log
- shell:
    cmd: |
      set -e
      for f in *.sql; do psql < "$f"; done
    interpreter: bash
`,
})

var processReturns = []Return{
	{"rc", "Exit status; 128 + n if signal n killed the command, 127 if it was not found."},
	{"stdout", "What it printed, byte for byte."},
	{"stdout_lines", "The same as a list of lines."},
	{"stderr", "What it printed on standard error."},
	{"stderr_lines", "The same as a list of lines."},
}
