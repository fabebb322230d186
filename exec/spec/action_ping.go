package spec

import "reflect"

// PingArgs are the arguments of ping.
type PingArgs struct {
	Answer string `arg:"data" default:"pong" doc:"What to answer. The word crash makes the step fail, to test failures."`
}

var _ = declareAction(&Action{
	Name:    "ping",
	Doc:     "Only answers: it shows that the machine can be reached and that moon runs on it.",
	Check:   true,
	args:    reflect.TypeFor[PingArgs](),
	Returns: []Return{{"ping", "The answer."}},
	Least:   "ping: {}",
	Example: `- ping: {}
`,
})
