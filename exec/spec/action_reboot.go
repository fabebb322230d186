package spec

import (
	"reflect"
	"time"
)

// RebootArgs are the arguments of reboot.
type RebootArgs struct {
	Msg      string        `arg:"msg" default:"Reboot initiated by moon" doc:"The message to users who are logged in."`
	Before   time.Duration `arg:"pre_reboot_delay" default:"0s" doc:"How long to wait before the restart, in whole minutes; less than a minute counts as none."`
	After    time.Duration `arg:"post_reboot_delay" default:"0s" doc:"How long to wait after that before trying to connect."`
	Timeout  time.Duration `arg:"reboot_timeout" default:"600s" doc:"How long the machine may take to come back, and again for the test command."`
	Connect  time.Duration `arg:"connect_timeout" default:"5s" doc:"How long one attempt to connect may take."`
	Command  string        `arg:"reboot_command" implied:"shutdown -r" doc:"The command that restarts the machine."`
	BootTime string        `arg:"boot_time_command" default:"cat /proc/sys/kernel/random/boot_id" doc:"A command whose output changes with each start of the machine."`
	Test     string        `arg:"test_command" default:"whoami" doc:"A command that must succeed before the step ends."`
	Path     []string      `arg:"search_paths" default:"/sbin,/bin,/usr/sbin,/usr/bin,/usr/local/sbin" doc:"Where to look for shutdown."`
}

var _ = declareAction(&Action{
	Name:    "reboot",
	Doc:     "Restarts another machine, and waits until it is back. It refuses to restart the machine that moon runs on.",
	Changes: true,
	args:    reflect.TypeFor[RebootArgs](),
	Returns: []Return{
		{"rebooted", "Whether the machine was restarted."},
		{"elapsed", "How long it took, in seconds."},
	},
	Least: "reboot: {}",
	Example: `- name: take the new kernel
  reboot: {reboot_timeout: 900}
`,
})
