package compile

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/playbook"
)

// warnShadowed warns of a plugin or module of the playbook that is not used, because moon has an action of its name. Ansible would use it.
func (c *Compiler) warnShadowed(t *playbook.Task, chain []string) {
	name := strings.TrimPrefix(t.ActionKey, spec.LegacyPrefix)
	if c.plugins == nil || name == "" || strings.Contains(name, ".") {
		return
	}
	if c.shadowed == nil {
		c.shadowed = map[string]bool{}
		for _, name := range slices.Concat(c.plugins.Names(), c.plugins.Callees(spec.CalleeAction)) {
			c.shadowed[name] = true
		}
	}
	if c.shadowed[name] {
		c.shadowed[name] = false // once is enough
		c.problems.Report(diag.Diagnostic{
			Severity: diag.Warning, Pos: t.ActionPos, Width: utf8.RuneCountInString(t.ActionKey), Chain: chain,
			Message: "`" + name + "` here is moon's own action: the plugin or module of that name is not used",
			Hint:    "give its file another name if it does something else",
		})
	}
}
