package spec

import (
	"reflect"
	"time"
)

// WaitForConnectionArgs are the arguments of wait_for_connection.
type WaitForConnectionArgs struct {
	Timeout time.Duration `arg:"timeout" default:"600s" doc:"How long to wait at most."`
	Delay   time.Duration `arg:"delay" default:"0s" doc:"How long to wait before the first attempt."`
	Sleep   time.Duration `arg:"sleep" default:"1s" doc:"How long to wait between two attempts."`
	Connect time.Duration `arg:"connect_timeout" default:"5s" doc:"How long one attempt may take."`
}

var _ = declareAction(&Action{
	Name:    "wait_for_connection",
	Doc:     "Waits until the host can be reached. The machine that moon runs on always can.",
	Check:   true,
	args:    reflect.TypeFor[WaitForConnectionArgs](),
	Returns: []Return{{"elapsed", "How long it took, in seconds."}},
	Least:   "wait_for_connection: {}",
	Example: `- wait_for_connection: {timeout: 60}
`,
})
