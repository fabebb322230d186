package lint

import (
	"moon/plan/playbook"
)

// permissions: without a mode a new file has what the umask of the host leaves.
var permissions = Rule{ID: "risky-file-permissions", About: "files of plays that are made without a mode", task: checkPermissions}

func checkPermissions(r *report, t *playbook.Task) {
	if !r.plays || t.Kind != playbook.Action {
		return
	}
	makes := isAction(t, "copy", "template", "get_url", "assemble")
	if isAction(t, "file") {
		state, _ := argument(t, "state")
		makes = state.Text() == "touch" || state.Text() == "directory"
	}
	if isAction(t, "lineinfile", "blockinfile", "ini_file") {
		create, ok := argument(t, "create")
		makes = ok && create.Kind() == playbook.Bool && create.Bool()
	}
	if _, ok := argument(t, "mode"); makes && !ok && t.ArgsFrom.IsZero() {
		r.add(t.ActionPos, len(t.ActionKey), nil, `write mode, such as mode: "0644"`, "who may read what this makes depends on the host")
	}
}
