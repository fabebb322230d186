package spec

import (
	"reflect"
	"strings"
	"sync"
)

// SteeringArgs are the arguments of what steers a play. The planner has read them; nothing else needs them.
type SteeringArgs struct {
	Values    map[string]any
	Registers map[string]any // what came of it, for the task's `register`
}

// steering is what tasks do that no host carries out and that has no place among the actions: they are steps because
// their conditions are asked in the run, and because they are counted.
var steering = map[string]*Action{}

func init() {
	for name, doc := range map[string]string{
		"include_tasks": "Asks whether the tasks of a file are run.",
		"include_role":  "Asks whether a role is run.",
		"include_vars":  "Sets the variables of a file.",
		"include":       "Finds the name of a file of steps that is known only in the run.",
		"preset":        "Finds the name of a preset that is known only in the run.",
		"loop":          "Finds the items of a loop that are known only in the run.",
	} {
		// Not registered with the others: a step cannot name it.
		a := &Action{Name: name, Doc: doc, Open: true, Check: true, Inward: true, args: reflect.TypeFor[SteeringArgs]()}
		a.fields = sync.OnceValue(func() []Field { return fieldsOf(a.args) })
		steering[name] = a
	}
}

// Absent stands for a module that moon does not have. A task with one can be planned, but never run.
func Absent(name string) *Action {
	a := &Action{Name: name, Doc: "Is not known.", Open: true, args: reflect.TypeFor[SteeringArgs]()}
	a.fields = sync.OnceValue(func() []Field { return fieldsOf(a.args) })
	return a
}

// Steering finds what steers a play by its name.
func Steering(name string) (*Action, bool) {
	a, ok := steering[strings.TrimPrefix(name, BuiltinPrefix)]
	return a, ok
}
