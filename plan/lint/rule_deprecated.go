package lint

import (
	"moon/plan/playbook"
)

// deprecated: keys that Ansible is about to drop, or has.
var deprecated = Rule{ID: "deprecated", About: "names that are on their way out", task: checkDeprecated}

var renamed = map[string]string{
	"include": "include_tasks or import_tasks", "local_action": "delegate_to: localhost", "sudo": "become", "sudo_user": "become_user",
	"always_run": "check_mode: false", "static": "import_tasks", "ec2": "amazon.aws.ec2_instance",
}

func checkDeprecated(r *report, t *playbook.Task) {
	for _, e := range t.Keys {
		if now := renamed[e.Key]; r.plays && now != "" {
			r.add(e.Pos, len(e.Key), nil, "write "+now, "`"+e.Key+"` is deprecated")
		}
	}
}
