package spec

import "reflect"

// MetaArgs are the arguments of meta.
type MetaArgs struct {
	Do string `arg:"do,_raw_params" need:"yes" enum:"noop|flush_handlers|end_host|end_play|end_batch|end_role|clear_host_errors|refresh_inventory|clear_facts|reset_connection" doc:"flush_handlers runs the handlers that were notified so far; end_host, end_batch, end_play and end_role skip the rest; clear_host_errors brings failed hosts back."`
}

var _ = declareAction(&Action{
	Name:    "meta",
	Doc:     "Controls a play. In a list of steps only `flush_handlers`, and `noop`, which does nothing, have a meaning.",
	Free:    "do",
	Check:   true,
	Inward:  true,
	args:    reflect.TypeFor[MetaArgs](),
	Returns: []Return{{"meta", "What was done."}},
	Least:   "meta: noop",
	Example: `- meta: noop
`,
})
