package spec

import (
	"reflect"
	"slices"
)

// AsyncStatusArgs are the arguments of async_status.
type AsyncStatusArgs struct {
	JID  string `arg:"jid" need:"yes" doc:"The job: what the task that started it has registered as ansible_job_id."`
	Mode string `arg:"mode" default:"status" enum:"status|cleanup" doc:"cleanup removes what is known of the job; one that still runs is not stopped."`
}

var _ = declareAction(&Action{
	Name:  "async_status",
	Doc:   "Asks how far a job is that a task with `async` and `poll: 0` has started on the same machine, as the same user. It fails if the job has failed.",
	Check: true,
	args:  reflect.TypeFor[AsyncStatusArgs](),
	Returns: []Return{
		{"ansible_job_id", "The job."},
		{"started", "true."},
		{"finished", "Whether the job has ended."},
		{"results_file", "The file in which the machine keeps how it ended."},
		{"erased", "With cleanup, the same file."},
		{"stdout", "What the job has printed, once it has ended; stderr is there, too, and what else its action returns."},
	},
	Least: "async_status: {jid: j1.1}",
	Example: `- name: start a long check
  shell: sleep 1; echo checked
  changed_when: false
  async: 1m
  poll: 0
  register: check
- name: wait for it
  async_status: {jid: "{{ check.ansible_job_id }}"}
  register: job
  until: job.finished
  retries: 60
  delay: 1s
- print: "{{ job.stdout }}"
`,
})

// attended are actions that ask the machine of moon for something while they run, or run there.
var attended = []string{
	"copy", "template", "assemble", "fetch", "script", "raw", "unarchive", "patch", "reboot", "wait_for_connection", "async_status",
}

// KeptApart reports whether an action can be carried out without the process that has started it, as a job in the background.
func KeptApart(a *Action) bool {
	return a == nil || !a.Inward && !slices.Contains(attended, a.Name) && (a.Plugin == nil || a.Plugin.Where != OnController && a.Plugin.Acting == nil)
}
