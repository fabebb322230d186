package value

// Env gives names their values. Values are nil, bool, int, float64, string, Number, []any, map[string]any, *Dict, Object, and
// Unknown, Secret and Fault anywhere among them.
type Env interface {
	Lookup(name string) (value any, ok bool)
	// Names lists every name that Lookup knows; it is asked only to word an error.
	Names() []string
}
