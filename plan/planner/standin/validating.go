package standin

import (
	"strings"
	"unicode"

	"moon/plan/playbook"
)

// Validating is the task that looks at the arguments of a role before anything else in it: use is the task that uses it, and entry the
// file of tasks that it names. An entry that the role does not specify has none.
func (s *Tasks) Validating(use *playbook.Task, files *playbook.RoleFiles, role, entry string) []*playbook.Task {
	about, ok := files.Meta.Specs.Get(entry)
	if !ok || about.Kind() != playbook.Map || about.Len() == 0 {
		return nil
	}
	key := textKey{use, files.Dir + "\x00" + entry}
	if t, ok := s.validating[key]; ok {
		return t
	}
	at := about.Pos()
	text := func(key, value string) playbook.Entry {
		return playbook.Entry{Pos: at, Key: key, Value: playbook.Written(at, value)}
	}
	nested := func(key string, entries ...playbook.Entry) playbook.Entry {
		return playbook.Entry{Pos: at, Key: key, Value: playbook.WrittenMap(at, entries...)}
	}
	name := "Validating arguments against arg spec '" + entry + "'"
	if short, ok := about.Get("short_description"); ok {
		name += " - " + short.Text()
	}
	options, _ := about.Get("options")
	// The keys next to the name of a role are variables in it, and each must be an option.
	var given []playbook.Entry
	for _, e := range use.RoleParams.Entries() {
		if isVariable(e.Key) {
			e.Value = playbook.Written(e.Pos, "{{ "+e.Key+" }}")
		}
		given = append(given, playbook.Entry{Pos: e.Pos, Key: e.Key, Value: e.Value})
	}
	t := []*playbook.Task{playbook.NewTask(playbook.Task{
		Kind: playbook.Action, Pos: at, Action: "validate_argument_spec", ActionPos: at,
		ActionKey: "ansible.builtin.validate_argument_spec",
		Name:      playbook.Written(at, name), Tags: []playbook.Value{playbook.Written(at, "always")},
		Args: playbook.WrittenMap(at,
			playbook.Entry{Pos: at, Key: "argument_spec", Value: withoutProse(options)},
			nested("provided_arguments", given...),
			nested("validate_args_context", text("type", "role"), text("name", role), text("argument_spec_name", entry),
				text("path", files.Dir)),
		),
		Loop: &playbook.Loop{Var: "item"},
	})}
	s.validating[key] = t
	return t
}

// isVariable reports whether a key can be the name of a variable in a template.
func isVariable(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// withoutProse are options without their descriptions, in which a template is only text.
func withoutProse(options playbook.Value) playbook.Value {
	var all []playbook.Entry
	for _, e := range options.Entries() {
		var kept []playbook.Entry
		for _, part := range e.Value.Entries() {
			switch part.Key {
			case "description":
				continue
			case "options":
				part.Value = withoutProse(part.Value)
			}
			kept = append(kept, part)
		}
		if e.Value.Kind() == playbook.Map {
			e.Value = playbook.WrittenMap(e.Value.Pos(), kept...)
		}
		all = append(all, e)
	}
	return playbook.WrittenMap(options.Pos(), all...)
}
