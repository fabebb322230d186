package spec

import (
	"reflect"
	"slices"
	"time"
)

// AssertArgs are the arguments of assert: any of its four forms; all that are given must hold.
type AssertArgs struct {
	That       []string       `arg:"that" kind:"conditions" doc:"Conditions that must hold, as in when."`
	Command    *AssertCommand `arg:"command" doc:"A shell command that must end with a given exit status."`
	File       *AssertFile    `arg:"file" doc:"What must be true of a file."`
	HTTP       *AssertHTTP    `arg:"http" doc:"What an HTTP server must answer."`
	SuccessMsg any            `arg:"success_msg" implied:"all assertions hold" doc:"The message when everything holds: text, or a list of texts."`
	FailMsg    any            `arg:"fail_msg,msg" implied:"names the assertion that does not hold" doc:"The error when a condition does not hold: text, or a list of texts."`
	Quiet      bool           `arg:"quiet" default:"false" doc:"Do not print the success message."`
}

// AssertCommand is the command form of assert.
type AssertCommand struct {
	Cmd      string  `arg:"cmd" need:"yes" doc:"What /bin/sh runs."`
	ExitCode int     `arg:"exit_code,rc" default:"0" doc:"The exit status it must end with."`
	Contains *string `arg:"contains" doc:"Text that its standard output must contain."`
}

// AssertFile is the file form of assert.
type AssertFile struct {
	Path     string  `arg:"path,dest" kind:"path" need:"yes" doc:"The file or directory."`
	Exists   *bool   `arg:"exists" implied:"true" doc:"Whether it must exist, or must not."`
	Contains *string `arg:"contains" doc:"Text that it must contain."`
	Content  *string `arg:"content" doc:"What it must contain, byte for byte."`
	Mode     Mode    `arg:"mode" doc:"The mode it must have."`
	Owner    string  `arg:"owner" doc:"Name or id of its owner."`
	Group    string  `arg:"group" doc:"Name or id of its group."`
}

// AssertHTTP is the HTTP form of assert.
type AssertHTTP struct {
	URL      string         `arg:"url" need:"yes" doc:"What to request."`
	Method   string         `arg:"method" default:"GET" enum:"GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS" doc:"How."`
	Headers  map[string]any `arg:"headers" doc:"Request headers."`
	Body     *string        `arg:"body" data:"json" doc:"Body of the request. A list or map is sent as JSON."`
	Status   int            `arg:"status" default:"200" doc:"The status it must answer with."`
	Contains *string        `arg:"contains" doc:"Text that the answer must contain, in its first 10 MiB."`
	Equals   *string        `arg:"body_equals,equals" doc:"What the answer must be, byte for byte."`
	Timeout  time.Duration  `arg:"timeout" default:"30s" doc:"How long the answer may take."`
}

var _ = declareAction(&Action{
	Name:     "assert",
	Doc:      "Fails unless conditions hold. It changes nothing.",
	Free:     "that",
	Process:  "command",
	FreeList: "that",
	Check:    true,
	args:     reflect.TypeFor[AssertArgs](),
	Returns: []Return{
		{"assertion", "The assertion that does not hold."},
		{"evaluated_to", "False, when one does not hold."},
		{"msg", "The message."},
	},
	Least: "assert: {that: [1 == 1]}",
	Example: `- assert:
    that:
      - cpu_cores >= 2
      - version is defined
    fail_msg: this machine is too small
- assert: {file: {path: /etc/app.conf, mode: "0600", contains: "listen ="}}
- assert: {http: {url: "http://localhost:8080/health", status: 200}}
`,
})

func (a *AssertArgs) validateArgs(func(string) bool) []Problem {
	if len(a.That) == 0 && a.Command == nil && a.File == nil && a.HTTP == nil {
		return []Problem{{"", "`assert` has nothing to check", "give `that`, `command`, `file` or `http`"}}
	}
	for field, msg := range map[string]any{"success_msg": a.SuccessMsg, "fail_msg": a.FailMsg} {
		list, isList := msg.([]any)
		isOther := func(v any) bool { _, ok := v.(string); return !ok }
		if msg != nil && !isList && isOther(msg) || slices.ContainsFunc(list, isOther) {
			return []Problem{{field, "`" + field + "` must be text, or a list of texts, found " + nameValue(msg), "put it into quotes"}}
		}
	}
	// Absence is all that can be asked of a file that must not be there.
	if f := a.File; f != nil && f.Exists != nil && !*f.Exists &&
		(f.Contains != nil || f.Content != nil || !f.Mode.IsZero() || f.Owner != "" || f.Group != "") {
		return []Problem{{"file.exists", "a file that must not exist can have no content, mode or owner", "leave `exists` out"}}
	}
	return nil
}
