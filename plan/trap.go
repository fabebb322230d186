package plan

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan/playbook"
)

// traps warns of arguments that are not what they look like. YAML has given them a type that the action does not want, and
// ansible-playbook goes on with something else than is written.
func (p *compiler) traps(f *spec.Field, key string, v playbook.Value, chain []string) {
	text := v.Text()
	warn := func(hint, format string, args ...any) {
		p.report(diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(text), Chain: chain, Message: fmt.Sprintf(format, args...), Hint: hint,
		})
	}
	switch {
	case (f.Kind == spec.String || f.Kind == spec.Path) && len(f.Enum) == 0 && v.Kind() == playbook.Bool:
		python := "False"
		if v.Bool() {
			python = "True"
		}
		warn(fmt.Sprintf("write %q", text), "`%s` is a text, and `%s` without quotes is true or false: ansible-playbook makes it `%s`", key, text, python)
	case f.Kind == spec.FileMode && v.Kind() == playbook.Int && !strings.HasPrefix(text, "0"):
		// Octal digits without the 0 are a decimal number.
		if n, err := strconv.Atoi(text); err == nil && !strings.ContainsAny(text, "89") {
			warn(fmt.Sprintf("write \"0%s\"", text), "`%s: %s` is 0%s here, and a decimal number for ansible-playbook, which makes it %#o", key, text, text, n)
		}
	}
}
