package plugin

import (
	"fmt"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

func failedResult(format string, args ...any) exec.Result {
	return exec.Result{Outcome: events.Failed, Class: fault.Fatal, Error: fmt.Sprintf(format, args...)}
}

// namePlugin returns how errors name the plugin.
func namePlugin(g *spec.Plugin) string {
	if g.Speaks == spec.SpeaksPython {
		return "the module " + g.Action
	}
	return "the plugin " + g.Path
}
