package call

import "moon/plan/eval/value"

// Print gives a value as text, in the language of the playbook.
func (r *Rendering) Print(v any) string { return r.manner().print(v) }

// PrintOutput is Print for what stands in {{ }}, where nothing prints as nothing.
func (r *Rendering) PrintOutput(v any) string {
	if v == nil {
		return ""
	}
	return r.Print(v)
}

// OmitAsText gives `omit` its text, in plays.
func (r *Rendering) OmitAsText(v any) any { return r.manner().omitted(v) }

// FinishMap gives a map that was just made in the way the form of playbook has maps: in order in plays.
func (r *Rendering) FinishMap(d *value.Dict) any { return r.manner().finish(d) }

// PrintQuoted gives Python's repr, and JSON in the step form.
func (r *Rendering) PrintQuoted(v any) string { return r.manner().quote(v) }
