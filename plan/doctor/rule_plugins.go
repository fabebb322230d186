package doctor

import (
	"os"
	"path/filepath"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/walk"
)

// pluginsRule finds plugins in Python next to the playbook and in roles, which moon does not load.
type pluginsRule struct {
	walk.Unmoved
	site
}

// pluginDirs are the directories in which Ansible finds them.
var pluginDirs = []string{
	"action_plugins", "callback_plugins", "connection_plugins", "strategy_plugins", "vars_plugins",
}

// VisitDirectory looks for plugins in a directory.
func (r *pluginsRule) VisitDirectory(dir string) {
	for _, name := range pluginDirs {
		entries, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".py" && e.Name() != "__init__.py" {
				file := plan.ShownPath(r.root, filepath.Join(dir, name, e.Name()))
				r.problems.Errorf(diag.Pos{File: file}, 0, nil, "see moon plugin for what moon loads instead",
					"an Ansible plugin in Python is not loaded")
			}
		}
	}
}
