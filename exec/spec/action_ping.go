package spec

import "reflect"

// PingArgs are the arguments of ping.
type PingArgs struct {
	Answer string `arg:"data" default:"pong" doc:"What to answer. The word crash fails, to try out what a failure does."`
}

var _ = declare(&Action{
	Name:    "ping",
	Doc:     "Does nothing but answer: the machine can be reached, and moon runs on it.",
	Check:   true,
	args:    reflect.TypeFor[PingArgs](),
	Returns: []Return{{"ping", "The answer."}},
	Least:   "ping: {}",
	Example: `- ping: {}
`,
})
