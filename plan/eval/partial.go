package eval

// Partial is a map that a step will give and of which some entries are known before: what a loop over the results of another loop
// sees. Which other keys it has is not known either, so that nothing but its entries can be had of it.
type Partial struct {
	Name  string // the variable that it is the value of
	Known map[string]any
	Steps []int // that give the rest
}

// Get implements Object.
func (p Partial) Get(key string) (any, bool) {
	if v, ok := p.Known[key]; ok {
		return v, true
	}
	return Unknown{Steps: p.Steps}, true
}

// Keys are those that are known: there are others.
func (p Partial) Keys() []string { return sortedKeys(p.Known) }

// whole is why all of it cannot be had.
func (p Partial) whole() error { return &open{[]Missing{{p.Name, sortedSteps(p.Steps)}}} }

func isPartial(v any) bool {
	_, ok := v.(Partial)
	return ok
}
