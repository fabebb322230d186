package lookups

import (
	"slices"

	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Definitions is the lookup behind `template` of kubernetes.core.k8s, by a name that Ansible has not: its terms are what that argument takes,
// and it returns the documents of the rendered files.
const Definitions = "kubernetes.core.k8s.template"

// lineEnds are those that newline_sequence takes. YAML reads each of them as one.
var lineEnds = []string{"\n", "\r", "\r\n", `\n`, `\r`, `\r\n`}

func lookupDefinitions(c *call.Input, terms []any) ([]any, error) {
	if c.World.File == nil {
		return nil, call.Unavailable("template")
	}
	out := []any{}
	for _, term := range onceFlat(terms) {
		name, style, err := readDefinition(c, term)
		if err != nil {
			return nil, err
		}
		text, err := c.World.File(c.Env, "templates", name)
		if text, err = call.Ask("template", name, text, err); err != nil {
			return nil, err
		}
		in := *c
		if in.Value, err = c.Evaluator.RenderFile(name, text, style, c.Env); err != nil {
			return nil, err
		}
		read, err := filters.FromYAMLAll(&in)
		if err != nil {
			return nil, value.Errorf(value.Failure, "", "%s: %s", name, err)
		}
		docs, isList := read.([]any)
		if !isList { // it is not known yet
			return nil, value.Errorf(value.Failure, "", "%s renders to %s, and not to YAML", name, value.KindOf(read))
		}
		out = append(out, slices.DeleteFunc(slices.Clone(docs), func(doc any) bool { return doc == nil })...)
	}
	if len(out) == 0 {
		return nil, value.Errorf(value.Failure, "give the task a `when`", "the templates render to nothing, with which Ansible does nothing")
	}
	return out, nil
}

// readDefinition reads one of the files: its path, or a map with that and the style in which it is written.
func readDefinition(c *call.Input, term any) (name string, style jinja.Style, err error) {
	m, isMap := value.MapOf(term)
	if !isMap {
		if _, isText := value.Plain(term).(string); !isText {
			return "", style, value.Errorf(value.TypeError, "", "a template is a path, or a map with `path`; this is %s", value.KindOf(term))
		}
		return c.Print(term), style, nil
	}
	if m["path"] == nil {
		return "", style, value.Errorf(value.Failure, "", "a template needs its `path`")
	}
	if end := m["newline_sequence"]; end != nil && !slices.Contains(lineEnds, c.Print(end)) {
		return "", style, value.Errorf(value.Failure, "", "`newline_sequence` must be \\n, \\r or \\r\\n")
	}
	for option, at := range map[string]*string{
		"block_start_string": &style.BlockStart, "block_end_string": &style.BlockEnd,
		"variable_start_string": &style.VariableStart, "variable_end_string": &style.VariableEnd,
	} {
		if v := m[option]; v != nil {
			*at = c.Print(v)
		}
	}
	in := *c
	in.Named = m
	style.KeepBreaks, style.Lstrip = !readOption(&in, "trim_blocks", true), readOption(&in, "lstrip_blocks", false)
	return c.Print(m["path"]), style, nil
}
