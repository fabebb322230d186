package lint

import (
	"slices"

	"moon/plan/playbook"
)

// latest: what is installed depends on the day.
var latest = Rule{ID: "package-latest", About: "packages in whatever version is the latest", task: checkLatest}

var packageActions = []string{"apt", "dnf", "yum", "package", "apk", "pacman", "pip", "npm", "homebrew", "zypper", "gem"}

func checkLatest(r *report, t *playbook.Task) {
	if t.Kind != playbook.Action || !slices.Contains(packageActions, t.Action) {
		return
	}
	if v, ok := argument(t, "state"); ok && v.Text() == "latest" {
		r.add(v.Pos(), len("latest"), nil, "use state: present, or name the version", "two runs of this may install different versions")
	}
}
