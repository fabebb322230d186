package spec

import "reflect"

// SetFactArgs are the arguments of set_fact.
type SetFactArgs struct {
	Values    map[string]any
	Cacheable bool `arg:"cacheable" default:"false" doc:"In plays the variables are facts, too: of the host, in ansible_facts, and in later runs if facts are kept (fact_caching)."`
}

var _ = declareAction(&Action{
	Name:    "set_fact",
	Doc:     "Sets variables for the steps after it. Every key is the name of a variable.",
	Open:    true,
	Check:   true,
	Inward:  true,
	args:    reflect.TypeFor[SetFactArgs](),
	Returns: []Return{{"facts", "The variables that were set."}},
	Least:   "set_fact: {a: 1}",
	Example: `- set_fact:
    release: "{{ tag.stdout }}"
    parts: "{{ tag.stdout.split('.') }}"
`,
})
