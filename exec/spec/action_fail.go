package spec

import "reflect"

// FailArgs are the arguments of fail.
type FailArgs struct {
	Msg any `arg:"msg,message" implied:"failed as the playbook asks" doc:"The error: text, or a list or map of it."`
}

var _ = declareAction(&Action{
	Name:    "fail",
	Doc:     "Fails. With `when` it stops a run that must not continue.",
	Free:    "msg",
	Check:   true,
	Inward:  true,
	args:    reflect.TypeFor[FailArgs](),
	Returns: []Return{{"msg", "The error."}},
	Least:   "fail: x",
	Example: `- fail: this playbook is for Debian
  when: os_family != "debian"
`,
})
