package jinja

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"moon/internal/suggest"
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

// Misfit is what is wrong with the arguments of a call: one is superfluous, misspelt, given twice or missing. Of one that is missing the
// place is -1. It is nil if they fit.
func (p Params) Misfit(kind, name string, args []Argument) *Error {
	if p.Open {
		return nil
	}
	// By place, since an argument may be given by place and by name, which is a mistake.
	filled := make([]bool, len(p.Names))
	for i, a := range args {
		place := i
		if a.Name != "" {
			place = slices.Index(p.Names, a.Name)
			if place < 0 {
				return &Error{
					Message: kind + " `" + name + "` has no argument `" + a.Name + "`", Hint: suggest.DidYouMean(a.Name, p.Names),
					Offset: a.At, Width: a.width(),
				}
			}
			if filled[place] {
				return a.Twice()
			}
		} else if p.Rest {
			continue
		}
		if place >= len(filled) {
			return &Error{
				Message: kind + " `" + name + "` takes " + p.Count() + ", not " + Counted(len(args), "argument"), Offset: a.At, Width: a.width(),
			}
		}
		filled[place] = true
	}
	for i := range p.Required {
		if !filled[i] && !p.Rest {
			return &Error{Message: kind + " `" + name + "` needs the argument `" + p.Names[i] + "`", Offset: -1}
		}
	}
	return nil
}

// Twice is the error for an argument whose name is given a second time.
func (a Argument) Twice() *Error {
	return &Error{Message: "the argument `" + a.Name + "` is given twice", Offset: a.At, Width: a.width()}
}

// width is how much of the text names the argument. One that was unpacked is named by nothing but its mark.
func (a Argument) width() int { return len(cmp.Or(a.Unpack, a.Name)) }

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
