package eval

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
