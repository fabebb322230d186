package eval

import "moon/plan/eval/value"

// print is how a value looks as text: that of the language of the playbook.
func (r *rendering) print(v any) string {
	if !r.engine.Python {
		return value.Text(v)
	}
	if s, ok := v.(string); ok {
		return s
	}
	return value.PythonText(v)
}

// shownOutput is print for what stands in {{ }}, where nothing prints as nothing.
func (r *rendering) shownOutput(v any) string {
	if v == nil {
		return ""
	}
	return r.print(v)
}

// ofForm is a map that was just made as the form of playbook has maps.
func (r *rendering) ofForm(d *value.Dict) any {
	if r.engine.Python {
		return d
	}
	m, _ := value.MapOf(d)
	return m
}
