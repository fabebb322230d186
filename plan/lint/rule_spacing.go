package lint

import (
	"strings"

	"moon/internal/pattern"
	"moon/plan/playbook"
)

// templateSpacing: one space inside the braces.
var templateSpacing = Rule{ID: "jinja-spacing", About: "spaces inside {{ }}", Fixes: true, template: checkTemplateSpacing}

var expression = pattern.New(`\{\{([^{}'"\n]*)\}\}`)

func checkTemplateSpacing(r *report, v playbook.Value) {
	text := v.Text()
	if strings.Contains(text, "{%") { // raw text may hold braces that are none
		return
	}
	for _, m := range expression.FindAllStringSubmatchIndex(text, -1) {
		inside := text[m[2]:m[3]]
		trimmed := strings.TrimSpace(strings.Trim(inside, "-"))
		if trimmed == "" || strings.Contains(inside, "#") {
			continue
		}
		want := "{{ " + trimmed + " }}"
		if strings.HasPrefix(inside, "-") {
			want = "{{- " + trimmed + " }}"
		}
		if strings.HasSuffix(inside, "-") {
			want = strings.TrimSuffix(want, "}}") + "-}}"
		}
		if old := text[m[0]:m[1]]; old != want {
			pos := v.PosAt(m[0])
			r.add(pos, len(old), replacing(pos, old, want), "write "+want, "a template has one space inside its braces")
		}
	}
}
