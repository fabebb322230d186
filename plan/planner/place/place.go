package place

import (
	"cmp"
	"slices"
	"strings"

	"moon/internal/people"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
)

// New is the place at which something is found.
func New(of *plan.Finding) *plan.OpenPlace {
	src := of.Src
	p := &plan.OpenPlace{Action: src.ActionKey, Confirm: plan.FirstLine(src.Confirm.Text())}
	if src.Confirmers != nil {
		p.Confirm = src.Confirmers.Asked(cmp.Or(p.Confirm, people.PlainQuestion), nil)
	}
	p.Group = src.Kind != playbook.Action || Includes(src)
	if len(of.Parts()) > 0 {
		p.What, p.Action, p.Confirm = names[src.Kind], "", ""
		if of.Name.IsZero() {
			p.What = "keys"
		}
	}
	return p
}

// Includes reports whether a step of a play is that of an include: of its loop the rounds are groups of tasks.
func Includes(t *playbook.Task) bool {
	return t.Action == "include_tasks" || t.Action == "include_role"
}

// names says what is found at the place of a task that names it.
var names = map[playbook.TaskKind]string{
	playbook.Include: "file", playbook.Preset: "preset", playbook.IncludeVars: "variables", playbook.Role: "role",
	playbook.Action: "host",
}

// RoleParts are the files of a role that an include names.
func RoleParts(t *playbook.Task) []plan.Part {
	parts := []plan.Part{
		{Key: "tasks_from", Value: t.TasksFrom},
		{Key: "vars_from", Value: t.VarsFrom},
		{Key: "defaults_from", Value: t.DefaultsFrom},
		{Key: "handlers_from", Value: t.HandlersFrom},
	}
	if !slices.ContainsFunc(parts, func(part plan.Part) bool { return !part.Value.IsZero() }) {
		return nil
	}
	return parts
}

// Settle are keys with what the run has found; without that, none of them counts.
func Settle(keys []plan.Part, found []any) map[string]any {
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

// Fill gives the arguments of the step of an open place at which something is named.
func Fill(s *plan.Step, of *plan.Finding, r *plan.Renderer, f *plan.Fields) map[string]any {
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

// Mark ends the path of the step of an open loop: without it, that is the path of the loop.
func Mark(s *plan.Step) string {
	if s.Place == nil {
		return ""
	}
	return "?"
}
