package eval

// Unknown stands, anywhere inside a value, for what a step that has not run will give.
type Unknown struct {
	Steps []int // indexes of the producing steps, ascending
}

// Number is a number whose spelling must survive: 0644 or 1.10. It prints as Text and computes as Value.
type Number struct {
	Text  string
	Value any // int or float64
}

// Env gives names their values. Values are nil, bool, int, float64, string, Number, []any, map[string]any, *Dict, Object, and
// Unknown, Secret and Fault anywhere among them.
type Env interface {
	Lookup(name string) (value any, ok bool)
	// Names lists every name that Lookup knows; it is asked only to word an error.
	Names() []string
}

// Ref is a use of a variable in a template or condition.
type Ref struct {
	Name    string
	Path    []any // the constant part of what follows: strings and ints, as in cfg.hosts[0]
	Guarded bool  // its absence is provided for: is defined, default(), ??
	Offset  int   // in bytes, in the text
	Call    bool  // a function reads it; the name stands nowhere in the text
	Secret  bool  // it is read as a secret
}

// Missing is an unknown value that a template or condition needs.
type Missing struct {
	Name  string
	Steps []int
}

// ErrorKind tells errors apart that a caller treats differently.
type ErrorKind uint8

// The kinds of error.
const (
	Syntax    ErrorKind = iota // the text cannot be understood
	Undefined                  // a name has no value
	Type                       // a value is of the wrong type
	Failed                     // anything else: a filter failed, a division by zero
)

// Error is what is wrong with a template or condition, with its place in the text.
type Error struct {
	Kind    ErrorKind
	Message string // one sentence, lower case, without internal names
	Hint    string
	Offset  int       // in bytes, in the text; -1 if unknown
	Width   int       // bytes the error covers; 0 if unknown
	Name    string    // of an Undefined error
	Lacking bool      // of a Syntax error: the text is well, but names a filter, test, function or tag that there is not
	Also    []*Error  // of an Undefined error: the other names of the text that have no value, each once
	Steps   []int     // of an Undefined error: the steps that would have given the name, and did not run
	Unless  []Missing // of an Undefined error: what is not known yet, and may settle the matter without the name
	through []string  // what could not be had because of it, the outermost first
	cause   string    // the message without that
	final   bool      // nothing provides for it: it is that of a Fault
}

// All are the mistakes that were found at once, this one first.
func (e *Error) All() []*Error { return append([]*Error{e}, e.Also...) }

func (e *Error) Error() string { return e.Message }
