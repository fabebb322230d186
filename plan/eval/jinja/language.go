package jinja

import (
	"strconv"
	"strings"
)

// Language is what there is to call. The parser looks every name up, so that one that does not exist, and arguments that do not
// fit, are found before anything runs.
type Language interface {
	FindFilter(name string) (Callable, *Error)
	FindTest(name string) (Callable, *Error)
	// FindFunction finds a function that is built in. Others check their arguments themselves.
	FindFunction(name string) (Callable, bool)
}

// Callable is a filter, test or function. What it is beyond its parameters is the evaluator's business.
type Callable interface{ Parameters() Params }

// Params declares the parameters of a filter, test or function.
type Params struct {
	Names    []string
	Required int
	Rest     bool // positional arguments are a list of their own; names are given by name only
	Open     bool // anything goes: the callee checks
}

// Takes declares parameters: "pattern replacement? count?"; "*" for a list of positional arguments, "..." for anything.
func Takes(declaration string) Params {
	var p Params
	for word := range strings.FieldsSeq(declaration) {
		switch {
		// Behind it names are only taken by name, as behind * in Python.
		case word == "*":
			p.Rest = true
		case word == "...":
			p.Open = true
		case strings.HasSuffix(word, "?"):
			p.Names = append(p.Names, strings.TrimSuffix(word, "?"))
		default:
			p.Names = append(p.Names, word)
			p.Required++
		}
	}
	return p
}

// Count says how many arguments are possible, for an error message.
func (p Params) Count() string {
	switch {
	case len(p.Names) == 0:
		return "no arguments"
	case p.Required == len(p.Names):
		return Counted(len(p.Names), "argument")
	default:
		return "at most " + Counted(len(p.Names), "argument")
	}
}

// Changes are the methods that Python's lists and maps have to change themselves.
var Changes = map[string]bool{
	"append": true, "extend": true, "update": true, "insert": true, "pop": true, "remove": true, "clear": true, "setdefault": true,
	"sort": true, "reverse": true, "popitem": true,
}

// operatorHints are words that stand between values in expr, and operators in capitals.
var operatorHints = map[string]string{
	"startsWith": "write `.startswith(…)`", "endsWith": "write `.endswith(…)`", "matches": "write `is search(…)`",
	"contains": "write `… in …`, the part first",
	"AND":      "write `and`", "OR": "write `or`", "NOT": "write `not`", "IN": "write `in`", "IS": "write `is`",
}

// What is wrong with a call that lacks its seed, if nothing is drawn by chance.
const (
	Unseeded = "needs a seed: without one its result would differ from one run to the next"
	SeedHint = "give it one that stays, such as `seed=inventory_hostname`"
)

// Counted writes 1 argument, 2 arguments.
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
