package spec

import (
	"reflect"
	"time"

	"moon/internal/pattern"
)

// ServiceArgs are the arguments of service.
type ServiceArgs struct {
	Name         string        `arg:"name,service,unit" doc:"The service, such as nginx; other systemd units with their type, such as backup.timer."`
	State        string        `arg:"state" enum:"started|stopped|restarted|reloaded|running>started" doc:"The desired state. started and stopped change nothing if the service is in that state; restarted and reloaded always act, and start a service that is not running."`
	Enabled      *bool         `arg:"enabled" implied:"as it is" doc:"Whether it starts with the machine."`
	Masked       *bool         `arg:"masked" implied:"as it is" doc:"Whether it is masked, so that nothing can start it. systemd only."`
	DaemonReload bool          `arg:"daemon_reload,daemon-reload" default:"false" doc:"Have systemd read changed units first. This does not count as a change."`
	DaemonReexec bool          `arg:"daemon_reexec,daemon-reexec" default:"false" doc:"Have systemd restart itself first. This does not count as a change."`
	Scope        string        `arg:"scope" default:"system" enum:"system|user|global" doc:"Whose systemd: the machine's, that of the user who runs the step, or all users', which supports enabled and masked only."`
	NoBlock      bool          `arg:"no_block" default:"false" doc:"Do not wait until systemd is done."`
	Force        bool          `arg:"force" default:"false" doc:"Let enabled and masked replace links that are in the way. systemd only."`
	Pattern      string        `arg:"pattern" doc:"Part of its command line, used to find the running service if its init script does not report a status."`
	Arguments    string        `arg:"arguments,args" doc:"More arguments for an init script."`
	Runlevels    []string      `arg:"runlevels,runlevel" implied:"default with OpenRC, 2 to 5 with init scripts" doc:"The runlevels that enabled applies to, without systemd."`
	Sleep        time.Duration `arg:"sleep" doc:"How long to wait between stopping and starting, with restarted."`
	Use          string        `arg:"use" default:"auto" enum:"auto|systemd|openrc|sysvinit|service>sysvinit" doc:"The service manager; auto: the one this machine has."`

	Words []string // of Arguments
}

var _ = declareAction(&Action{
	Name:    "service",
	Aliases: []string{"systemd", "systemd_service", "sysvinit"},
	Doc:     "Starts, stops and restarts services, and enables or disables them at start-up.",
	Process: "*",
	Check:   true,
	args:    reflect.TypeFor[ServiceArgs](),
	Returns: []Return{
		{"name", "The service."},
		{"state", "The state now: started or stopped."},
		{"enabled", "Whether it starts with the machine."},
		{"status", "What systemd knows about it, as a map."},
	},
	Least: "service: {name: x, state: started}",
	Example: `- service: {name: ticker, state: started, enabled: true}
- service: {name: clock, state: stopped, enabled: false}
`,
})

// OnlyLooks reports whether a step asks nothing of a service but how it is.
func (a *ServiceArgs) OnlyLooks() bool {
	return a.State == "" && a.Enabled == nil && a.Masked == nil && !a.DaemonReload && !a.DaemonReexec
}

var serviceName = pattern.New(`^[a-zA-Z0-9@_.:\\+~-]+$`)

func (a *ServiceArgs) validateArgs(given func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	units := a.State != "" || a.Enabled != nil || a.Masked != nil
	switch {
	case a.Name == "" && units:
		add("name", "`service` needs `name`", "")
	case a.Name == "" && !a.DaemonReload && !a.DaemonReexec:
		add("name", "`service` has nothing to do", "give `name` with `state` or `enabled`")
	case a.Name != "" && !serviceName.MatchString(a.Name):
		add("name", "`name` has "+nameValue(a.Name)+", which is not a service name", "")
	}
	if a.Scope == "global" && a.State != "" {
		add("state", "`state` does not go with `scope: global`", "a service runs for one user: scope: user")
	}
	if given("sleep") && a.State != "restarted" {
		add("sleep", "`sleep` goes with `state: restarted` only", "")
	}
	var wrong []Problem
	a.Words, wrong = extraWords("arguments", a.Arguments)
	return append(problems, wrong...)
}
