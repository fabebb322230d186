package plan

import (
	"path/filepath"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// environment renders a template that gives environment variables.
func (r *renderer) environment(v playbook.Value) map[string]string {
	got := r.value(v)
	m, ok := eval.Plain(eval.Reveal(got)).(map[string]any)
	if !ok {
		if got != nil && len(r.missing) == 0 && !r.failed && r.report != nil {
			r.failed = true
			r.report(diag.Diagnostic{Pos: v.Pos(), Chain: r.chain, Message: "`environment:` must be a map; this is " + described(eval.Plain(got))})
		}
		return nil
	}
	env := make(map[string]string, len(m))
	for name, value := range m {
		env[name] = eval.Text(value)
	}
	return env
}

func newSearch(dirs []string, d *disk) *search { return &search{dirs: dirs, disk: d} }

// sources are where the actions look for what they copy.
var sourceDirs = map[string]string{
	"template": "templates", "copy": "files", "script": "files", "unarchive": "files", "patch": "files", "assemble": "files",
}

// find is the path of a file that a task names.
func (s *search) find(name, home string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return resolvePath(name, s.dirs[0], home)
	}
	for _, dir := range s.dirs {
		if path := resolvePath(name, dir, home); s.disk.there(path) {
			return path
		}
	}
	s.missed = true
	return resolvePath(name, s.dirs[0], home)
}

// resolve makes a path of a task what it is on the machine where the task runs: of another user's home, or another machine's, only
// that knows.
func (k *task) resolve(path, home string) string {
	switch {
	case !k.plays:
		return resolvePath(path, k.dir, home)
	case k.away && (path == "~" || strings.HasPrefix(path, "~")):
		return path
	case k.remote && path != "" && !filepath.IsAbs(path):
		return "~/" + path
	}
	return resolvePath(path, k.base, home)
}
