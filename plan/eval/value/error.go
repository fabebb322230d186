package value

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"moon/plan/eval/jinja"
)

// Error is what is wrong with a template or condition, with its place in the text.
type Error struct {
	Kind    ErrorKind
	Message string // one sentence, lower case, without internal names
	Hint    string
	Suggest func() string `json:"-"` // makes the hint where it is asked for, if Hint is empty: most undefined names are provided for. Nil: there is none
	Offset  int           // in bytes, in the text; -1 if unknown
	Width   int           // bytes the error covers; 0 if unknown
	Name    string        // of an UndefinedError
	Lacking bool          // of a SyntaxError: the text is well, but names a filter, test, function or tag that there is not
	Also    []*Error      // of an UndefinedError: the other names of the text that have no value, each once
	Steps   []int         // of an UndefinedError: the steps that would have given the name, and did not run
	Unless  []Missing     // of an UndefinedError: what is not known yet, and may settle the matter without the name
	through []string      // what could not be had because of it, the outermost first
	cause   string        // the message without that
	final   bool          // nothing provides for it: it is that of a Fault
}

// Advice is the hint: what to do about the mistake, or "".
func (e *Error) Advice() string {
	if e.Hint == "" && e.Suggest != nil {
		return e.Suggest()
	}
	return e.Hint
}

// All are the mistakes that were found at once, this one first.
func (e *Error) All() []*Error { return append([]*Error{e}, e.Also...) }

func (e *Error) Error() string { return e.Message }

// ErrorKind tells errors apart that a caller treats differently.
type ErrorKind uint8

// The kinds of error.
const (
	SyntaxError    ErrorKind = iota // the text cannot be understood
	UndefinedError                  // a name has no value
	TypeError                       // a value is of the wrong type
	Failure                         // anything else: a filter failed, a division by zero
)

// Missing is an unknown value that a template or condition needs.
type Missing struct {
	Name  string
	Steps []int
	Asked bool // the run tells whenever it is asked: what a program prints, the time
}

// Errorf is an error at run time; the place is added where it is known.
func Errorf(kind ErrorKind, hint, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: hint, Offset: -1}
}

// FromParser is an error of the parser, which knows no other kind, as one of several.
func FromParser(e *jinja.Error) *Error {
	if e == nil {
		return nil
	}
	return &Error{Kind: SyntaxError, Message: e.Message, Hint: e.Hint, Offset: e.Offset, Width: e.Width, Lacking: e.Lacking}
}

// ForParser is an error for the parser, which was asked for what does not exist.
func (e *Error) ForParser() *jinja.Error {
	if e == nil {
		return nil
	}
	return &jinja.Error{Message: e.Message, Hint: e.Advice(), Offset: e.Offset, Width: e.Width, Lacking: e.Lacking}
}

// Misspelt is the error for an unknown filter, test, function or lookup.
func Misspelt(kind, name string, known []string) *Error {
	return FromParser(jinja.Misspelt(kind, name, known))
}

// Catch turns an *Error that was thrown into one that is returned.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	// A mistake in moon must not pass for one in the text.
	default:
		panic(r)
	}
}

// AsError also takes what is wrong with a text.
func AsError(err error) (*Error, bool) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e, true
	}
	if e, ok := errors.AsType[*jinja.Error](err); ok {
		return FromParser(e), true
	}
	return nil, false
}

// Sentence makes an error of a library fit into a sentence: one line, no trailing stop, backticks for quotes.
func Sentence(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimRight(s, ". ")
}

// IsUndefined reports whether an error is that of a name without a value, for which default() and `is defined` provide.
func IsUndefined(err error) bool {
	e, ok := AsError(err)
	return ok && e.Kind == UndefinedError && !e.final
}

// Unless is the error for an undefined name that is not asked for if what is open settles the matter.
func Unless(err error, o *Open) error {
	e, _ := AsError(err)
	may := *e
	may.Unless = UniteMissing(e.Unless, o.Missing)
	return &may
}

// InFile says in which line of which other file a mistake is.
func InFile(name, text string, err error) error {
	e, ok := AsError(err)
	if !ok {
		return err
	}
	moved := *e
	where := name
	if e.Offset >= 0 && e.Offset <= len(text) {
		where = fmt.Sprintf("%s:%d", name, 1+strings.Count(text[:e.Offset], "\n"))
	}
	moved.Message, moved.Offset, moved.Width, moved.Also = where+": "+e.Message, -1, 0, nil
	moved.through, moved.cause = nil, ""
	moved.final = true // default() is for names of the text at hand
	// It is found while this text runs, whose own syntax is right.
	if moved.Kind == SyntaxError {
		moved.Kind = Failure
	}
	return &moved
}

// Fault is the value of a name that has none because making it went wrong: its own text has a mistake, or uses a name without
// a value. It stands anywhere inside a value. Whoever reads it gets the error, under default() and `is defined` as well.
type Fault struct {
	Err  *Error
	From string // where the value is written, as a person reads it: "group_vars/web.yml:3"
	// Absent makes a fault of kind UndefinedError count as a name without a value, for which default() and `is defined` provide:
	// Ansible has it so.
	Absent bool
}

// NotGiven is the value of a name that steps would have given which did not run: undefined, for default() and `is defined` too. Why
// says which steps, and continues "… has no value: ".
func NotGiven(steps []int, why string) Fault {
	return Fault{Err: &Error{Kind: UndefinedError, Message: why, Steps: steps, Offset: -1}, Absent: true}
}

// IsNotGiven reports whether a value is one of NotGiven.
func IsNotGiven(v any) bool {
	f, ok := v.(Fault)
	return ok && f.Absent && f.From == "" && len(f.Err.Steps) > 0
}

// At is the error for reading the value under a name.
func (f Fault) At(name string) *Error {
	says := "`" + name + "`"
	switch {
	case f.From != "":
		says += " (" + f.From + ") cannot be had"
	case len(f.Err.Steps) > 0:
		says += " has no value"
	default:
		says += " cannot be had"
	}
	// Without the place of the fault: it is one in another text.
	e := &Error{
		Kind: f.Err.Kind, Name: name, Hint: f.Err.Hint, Suggest: f.Err.Suggest, Offset: -1, Steps: f.Err.Steps, final: !f.Absent,
		through: append([]string{says}, f.Err.through...), cause: f.Err.cause,
	}
	if e.cause == "" {
		e.cause = f.Err.Message
	}
	way := e.through
	// A chain of variables may be as long as a playbook; its ends say where it began and what was asked for.
	if n := len(way); n > 2*wayShown {
		way = slices.Concat(way[:wayShown], []string{fmt.Sprintf("… %d more …", n-2*wayShown)}, way[n-wayShown:])
	}
	// Clipped, so that the cause does not land in the array of through.
	e.Message = strings.Join(append(slices.Clip(way), e.cause), ": ")
	return e
}

// wayShown is how many variables of each end of a long chain are named.
const wayShown = 4

// TooMuch reports whether a message says that all templates together did more than is allowed: the rest need not be tried.
func TooMuch(message string) bool { return message == TooMuchWork || message == TooMuchText }

// What all templates of a playbook together may not exceed.
const (
	TooMuchWork = "the templates of this playbook do too much work for a plan"
	TooMuchText = "the templates of this playbook make too much text for a plan"
)
