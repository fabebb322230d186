package eval

// NewBounded is New with fewer steps per rendering, for tests of what happens at the end of them.
func NewBounded(steps int) *Engine {
	e := New()
	e.MaxSteps = steps
	return e
}
