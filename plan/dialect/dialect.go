package dialect

import (
	"cmp"
	"strings"
	"time"
)

// Dialect is the language of a playbook. The zero value is that of steps. Outside of this package it is carried and asked, and not
// compared: a new difference is a line of Rules, or an Of where it is needed, so that both sides of it stand next to each other.
type Dialect uint8

// The dialects.
const (
	Steps   Dialect = iota // moon's own list of steps
	Ansible                // plays over hosts
)

// Of is something that each dialect has: a value, or a function that does it.
type Of[T any] struct{ Steps, Ansible T }

// In is what one of them has.
func (o Of[T]) In(d Dialect) T {
	if d == Ansible {
		return o.Ansible
	}
	return o.Steps
}

// Rules are the differences that are plain data.
type Rules struct {
	OnFailure  string        // what a failure stops unless the call says: events of steps drain, a host of plays leaves
	RetryDelay time.Duration // between two attempts

	FactValue func(v any) any                    // what set_fact makes of a value
	Refusal   func(message, words string) string // what a task with wrong arguments fails with: moon's words, or Ansible's if it has some

	OverHosts bool // a task is done once on each of many hosts: whoever shows or counts steps does so by task and host

	// Results.
	FieldsAreNames    bool // conditions of a step know the fields of its own result by their names, not only that of `register`
	AbsenceSpreads    bool // what needs the result of a step that was not reached is skipped; otherwise it fails
	ExcludedRegisters bool // a step that is excluded registers that it was skipped
	UnneededIsOK      bool // a command that `creates` or `removes` makes unneeded is well, and not skipped
	FailedChanges     bool // a command that failed counts as a change, too
	DecidesDry        bool // a step with check_mode in a real run has a result that those after it can use, whatever it would have been
	PrintsUndefined   bool // print of a variable that is not defined says so, and does not fail
	KeepsPaths        bool // a path that the declaration of an action says to take as written is not resolved on the controller
	ReadsSources      bool // what is copied or rendered lies next to the playbook, also if nothing searches it
	OrdersMaps        bool // a map as written keeps its order and the types of its keys
	OldNumbers        bool // numbers of YAML files are those of YAML 1.1: 1:30 is 90, and 1e3 is text
	MakesFiles        bool // file without a state makes the file if it is absent; otherwise that is an error
	AnyHolds          bool // a condition may give any value: it holds unless that is empty or 0
	CommaTags         bool // a text that a template gives as a tag may be several, with commas between them
	TagsExist         bool // that no step has any of the tags that are asked for is an error, and not an empty run
	ReadsFlags        bool // a text under a key that takes a boolean or a condition is a boolean if it reads as one: "yes"
	FactsAhead        bool // what set_fact sets is in effect from the plan on, if the plan knows it
}

// Rules are those of the dialect.
func (d Dialect) Rules() *Rules { return rules.In(d) }

var rules = Of[*Rules]{
	Steps: &Rules{
		OnFailure: "drain", RetryDelay: time.Second,
		FactValue: func(v any) any { return v }, Refusal: func(message, _ string) string { return message },
		FieldsAreNames: true, AbsenceSpreads: true, ExcludedRegisters: true, MakesFiles: true,
		ReadsSources: true, CommaTags: true, TagsExist: true,
	},
	Ansible: &Rules{
		OnFailure: "host", RetryDelay: 5 * time.Second,
		FactValue: saysWhether, Refusal: func(message, words string) string { return cmp.Or(words, message) },
		OverHosts: true, UnneededIsOK: true, FailedChanges: true, DecidesDry: true, PrintsUndefined: true, AnyHolds: true,
		FactsAhead: true,
		KeepsPaths: true, OrdersMaps: true, OldNumbers: true, ReadsFlags: true,
	},
}

// saysWhether makes a truth value of a text that is the word for one, as Ansible's set_fact does, however the text came about.
func saysWhether(v any) any {
	text, ok := v.(string)
	switch {
	case !ok:
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "yes"):
		return true
	case strings.EqualFold(text, "false"), strings.EqualFold(text, "no"):
		return false
	}
	return v
}
