package planner

import (
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/eval/value"
)

// settle are keys with what the run has found; without that, none of them counts.
func settle(keys []plan.Part, found []any) map[string]any {
	if len(keys) == 0 {
		return nil
	}
	m := make(map[string]any, len(keys))
	for i, key := range keys {
		if m[key.Key] = nil; i < len(found) {
			m[key.Key] = value.Plain(found[i])
		}
	}
	return m
}

// fillPlace are the arguments of the step of an open place at which something is named.
func fillPlace(s *plan.Step, of *plan.Finding, r *plan.Renderer, f *plan.Fields) map[string]any {
	raw := map[string]any{}
	if !of.Name.IsZero() {
		f.At(s.Place.What)
		raw[s.Place.What] = r.Text(of.Name)
	}
	for _, part := range of.With {
		if !part.Value.IsZero() {
			f.At(part.Key)
			raw[part.Key] = r.Text(part.Value)
		}
	}
	var keys []string
	for _, key := range of.Keys {
		f.At(key.Key)
		r.Value(key.Value)
		keys = append(keys, key.Key+": "+plan.FirstLine(key.Value.Text()))
	}
	if len(keys) > 0 {
		slices.Sort(keys)
		raw["keys"] = strings.Join(keys, ", ")
	}
	return raw
}
