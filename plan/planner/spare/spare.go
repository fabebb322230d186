package spare

// One is at most one value that is not in use.
type One[T any] struct{ kept *T }

// Take is the value that was given last, with what is in it, or a new one.
func (o *One[T]) Take() *T {
	v := o.kept
	if o.kept = nil; v == nil {
		v = new(T)
	}
	return v
}

// Give takes a value back. The caller has no further use for it, and has given it to no other.
func (o *One[T]) Give(v *T) { o.kept = v }
