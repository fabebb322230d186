package lint

import (
	"moon/plan/playbook"
)

// gitVersion: without a version what is checked out changes from day to day.
var gitVersion = Rule{ID: "git-latest", About: "a checkout without a version", task: checkGitVersion}

func checkGitVersion(r *report, t *playbook.Task) {
	if !isAction(t, "git") {
		return
	}
	if v, ok := argument(t, "version"); !ok || v.Text() == "HEAD" {
		r.add(t.ActionPos, len(t.ActionKey), nil, "name a tag, a branch or a commit with version",
			"what this checks out changes with the repository")
	}
}
