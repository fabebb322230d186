package eval

// Ref is a use of a variable in a template or condition.
type Ref struct {
	Name    string
	Path    []any // the constant part of what follows: strings and ints, as in cfg.hosts[0]
	Guarded bool  // its absence is provided for: is defined, default(), ??
	Offset  int   // in bytes, in the text
	Call    bool  // a function reads it; the name stands nowhere in the text
	Secret  bool  // it is read as a secret
}
