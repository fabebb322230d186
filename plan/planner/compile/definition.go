package compile

import (
	"slices"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/lookups"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// renderDefinition does what an action plugin in Python does for the module k8s: what `template` names, one file or several, is
// rendered for
// `definition`. It becomes a lookup, so that the files are looked for, read, digested and shown as those of any other lookup.
func (c *Compiler) renderDefinition(args []plan.Arg, a *spec.Action, chain []string) []plan.Arg {
	at := slices.IndexFunc(args, func(g plan.Arg) bool { return g.Name == "template" })
	if at < 0 || !a.RendersTemplates() {
		return args
	}
	f, ok := a.Field("definition")
	if !ok || slices.ContainsFunc(args, func(g plan.Arg) bool { return g.Name == f.Name }) {
		return args
	}
	named := args[at].Value
	expr, ok := expressionOf(named)
	if !ok { // the module would be given `template` as it is, which is refused
		return args
	}
	text := "{{ query('" + lookups.Definitions + "', " + expr + ") }}"
	if strings.Contains(expr, "omit") {
		text = "{{ omit if (" + expr + ") == omit else query('" + lookups.Definitions + "', " + expr + ") }}"
	}
	made := c.Argument(f.Name, args[at].Key, f, playbook.Written(named.Pos(), text), chain)
	args = slices.Clone(args)
	args[at] = made
	return args
}

// expressionOf writes a value as an expression of Jinja, with the templates in it; ok is false if it has statements.
func expressionOf(v playbook.Value) (expr string, ok bool) {
	var parts []string
	switch v.Kind() {
	case playbook.Null:
		return "none", true
	case playbook.List:
		for _, item := range v.Items() {
			one, ok := expressionOf(item)
			if !ok {
				return "", false
			}
			parts = append(parts, one)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	case playbook.Map:
		for _, e := range v.Entries() {
			one, ok := expressionOf(e.Value)
			if !ok {
				return "", false
			}
			parts = append(parts, quoteJinja(e.Key)+": "+one)
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	case playbook.Bool, playbook.Int, playbook.Float:
		return strings.ToLower(value.PythonText(plan.Plain(v))), true
	case playbook.String:
	}
	text := v.Text()
	if v.Literal() || !strings.Contains(text, "{") {
		return quoteJinja(text), true
	}
	if strings.Contains(text, "{%") || strings.Contains(text, "{#") {
		return "", false
	}
	for text != "" {
		before, after, found := strings.Cut(text, "{{")
		if before != "" {
			parts = append(parts, quoteJinja(before))
		}
		if !found {
			break
		}
		inner, rest, closed := strings.Cut(after, "}}")
		if !closed {
			return "", false
		}
		// A map within ends with braces of its own.
		for strings.HasPrefix(rest, "}") {
			inner, rest = inner+"}", rest[1:]
		}
		parts, text = append(parts, "("+strings.Trim(inner, "-+ ")+")"), rest
	}
	return strings.Join(parts, " ~ "), true
}

// quoteJinja is a text as an expression has it.
func quoteJinja(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}
