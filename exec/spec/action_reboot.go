package spec

import (
	"reflect"
	"time"
)

// RebootArgs are the arguments of reboot.
type RebootArgs struct {
	Msg      string        `arg:"msg" default:"Reboot initiated by moon" doc:"What users who are logged in are told."`
	Before   time.Duration `arg:"pre_reboot_delay" default:"0s" doc:"How long they have. Whole minutes; less is none."`
	After    time.Duration `arg:"post_reboot_delay" default:"0s" doc:"How long to wait after that before it is tried to reach."`
	Timeout  time.Duration `arg:"reboot_timeout" default:"600s" doc:"How long the machine may take to come back, and again for the test command."`
	Connect  time.Duration `arg:"connect_timeout" default:"5s" doc:"How long one try to reach it may take."`
	Command  string        `arg:"reboot_command" implied:"shutdown -r" doc:"What starts the machine again."`
	BootTime string        `arg:"boot_time_command" default:"cat /proc/sys/kernel/random/boot_id" doc:"Prints something else after each start of the machine."`
	Test     string        `arg:"test_command" default:"whoami" doc:"Must succeed before the step ends."`
	Path     []string      `arg:"search_paths" default:"/sbin,/bin,/usr/sbin,/usr/bin,/usr/local/sbin" doc:"Where shutdown is looked for."`
}

var _ = declare(&Action{
	Name:    "reboot",
	Doc:     "Starts another machine again, and waits until it is back. The machine that moon runs on is refused.",
	Changes: true,
	args:    reflect.TypeFor[RebootArgs](),
	Returns: []Return{
		{"rebooted", "Whether the machine was started again."},
		{"elapsed", "How long it took, in seconds."},
	},
	Least: "reboot: {}",
	Example: `- name: take the new kernel
  reboot: {reboot_timeout: 900}
`,
})
