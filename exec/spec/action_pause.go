package spec

import (
	"reflect"
	"time"
)

// PauseArgs are the arguments of pause. Once decoded, Time is how long it lasts; 0 if a person ends it.
type PauseArgs struct {
	Prompt  string        `arg:"prompt,message,msg" implied:"continue?" doc:"What to ask, or with a time what to print. Plain text that is a duration is the time: pause: 30s."`
	For     time.Duration `arg:"seconds" doc:"How long to wait, instead of asking."`
	Echo    bool          `arg:"echo" default:"true" doc:"Accepted from playbooks written for Ansible; what is typed is not kept."`
	Minutes int           `arg:"minutes" doc:"The same in minutes."`

	Time time.Duration
}

var _ = declareAction(&Action{
	Name:    "pause",
	Doc:     "Waits for a time, or asks whether to continue. Without a terminal a pause that asks must be approved with --approve.",
	Free:    "prompt",
	Check:   true,
	Inward:  true,
	args:    reflect.TypeFor[PauseArgs](),
	Returns: []Return{{"elapsed", "How long it took, in seconds."}},
	Least:   "pause: 1s",
	Example: `- pause: unplug the old disk, then continue
- pause: {seconds: 1, message: the cluster settles}
`,
})

func (a *PauseArgs) validateArgs(given func(string) bool) []Problem {
	if given("seconds") && given("minutes") {
		return []Problem{{"minutes", "`seconds` and `minutes` exclude each other", "give one of them; `seconds: 1m30s` works too"}}
	}
	if a.Minutes < 0 {
		return []Problem{{"minutes", "`minutes` must not be below nothing", ""}}
	}
	a.Time = a.For + time.Duration(a.Minutes)*time.Minute
	if !given("seconds") && !given("minutes") {
		// Free text may be a time: `pause: 10s`.
		if d, ok := ParseDuration(a.Prompt); ok {
			a.Time, a.Prompt = d, ""
		}
	}
	return nil
}

// PauseAsks says what a pause with these arguments asks, if it asks at all.
func PauseAsks(args map[string]any) (question string, asks bool) {
	for _, time := range []string{"seconds", "minutes"} {
		if args[time] != nil {
			return "", false
		}
	}
	if args["prompt"] == nil {
		return "continue?", true
	}
	if _, ok := ParseDuration(args["prompt"]); ok {
		return "", false
	}
	question, _ = asText(args["prompt"])
	return question, true
}
