package value

// Env gives names their values. Values are nil, bool, int, float64, string, Number, []any, map[string]any, *Dict, Object, and
// Unknown, Secret and Fault anywhere among them.
type Env interface {
	Lookup(name string) (value any, ok bool)
	// Names lists every name that Lookup knows; it is asked only to word an error.
	Names() []string
}

// Elements is an Env that can give the result of one round of a loop while others have none yet. How many rounds there are is not known
// of every loop: where it is not, Element is not ok, and the whole is asked for.
type Elements interface {
	// Element is an item of the list `results` of a variable. A negative index counts from the end.
	Element(name string, index int) (value any, ok bool)
}
