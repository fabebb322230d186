package plan

import (
	"path/filepath"
	"strings"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// Environment renders a template that gives environment variables.
func (r *Renderer) Environment(v playbook.Value) map[string]string {
	got := r.Value(v)
	m, ok := eval.Plain(eval.Reveal(got)).(map[string]any)
	if !ok {
		if got != nil && len(r.Missing) == 0 && !r.Failed && r.Report != nil {
			r.Failed = true
			r.Report(diag.Diagnostic{Pos: v.Pos(), Chain: r.Chain, Message: "`environment:` must be a map; this is " + Described(eval.Plain(got))})
		}
		return nil
	}
	env := make(map[string]string, len(m))
	for name, value := range m {
		env[name] = eval.Text(value)
	}
	return env
}

// Resolve makes a path of a task what it is on the machine where the task runs: of another user's home, or another machine's, only
// that knows.
func (k *Task) Resolve(path, home string) string {
	switch {
	case !k.Plays:
		return ResolvePath(path, k.Dir, home)
	case k.Away && (path == "~" || strings.HasPrefix(path, "~")):
		return path
	case k.Remote && path != "" && !filepath.IsAbs(path):
		return "~/" + path
	}
	return ResolvePath(path, k.Base, home)
}
