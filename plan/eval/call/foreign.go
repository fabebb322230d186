package call

// Kind is what a callee that is not moon's own is for.
type Kind string

// The kinds of callees.
const (
	Filter Kind = "filter"
	Test   Kind = "test"
	Lookup Kind = "lookup"
)

// Foreign finds filters, tests and lookups that are not moon's own: those that a playbook brings, and Ansible's and its
// collections' that moon does not have.
type Foreign interface {
	// Find finds one by the name that a text calls it by; nil if there is none. The error says what has become of it. own asks for those
	// alone that count before moon's own of the same name.
	Find(kind Kind, name string, own bool) (Callee, error)
	// Names are what somebody who has misspelt one may have meant.
	Names(kind Kind) []string
}

// Callee is one of them.
type Callee interface {
	// Call calls it with the value, the positional and the named arguments of a call. A test gives whether it holds, a lookup a list.
	Call(c *Input) (any, error)
}

// FindForeign finds what is not moon's own.
func (s *Shared) FindForeign(kind Kind, name string, own bool) (Callee, error) {
	if s.Foreign == nil {
		return nil, nil
	}
	return s.Foreign.Find(kind, name, own)
}

// ForeignNames are the names of what is not moon's own.
func (s *Shared) ForeignNames(kind Kind) []string {
	if s.Foreign == nil {
		return nil
	}
	return s.Foreign.Names(kind)
}

// NamedInOrder gives the named arguments one after the other, in the order of the text.
func (c *Input) NamedInOrder(each func(name string, v any) error) error {
	for _, name := range c.order {
		if err := each(name, c.Named[name]); err != nil {
			return err
		}
	}
	return nil
}
