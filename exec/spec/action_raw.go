package spec

import "reflect"

// RawArgs are the arguments of raw.
type RawArgs struct {
	Cmd         string `arg:"cmd,_raw_params" need:"yes" doc:"The command, for the shell."`
	Interpreter string `arg:"executable" kind:"path" default:"/bin/sh" doc:"The shell."`
}

var _ = declareAction(&Action{
	Name:    "raw",
	Doc:     "Runs text with a shell. It exists for playbooks written for Ansible, whose other modules need Python; in moon it is the same as `shell`.",
	Free:    "cmd",
	Command: true,
	Lax:     true,
	Process: "*",
	Changes: true,
	args:    reflect.TypeFor[RawArgs](),
	Returns: processReturns,
	Least:   "raw: x",
	Example: `- raw: apt-get update && touch /work/ready
  changed_when: false
`,
})
