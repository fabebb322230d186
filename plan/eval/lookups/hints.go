package lookups

// IsFunction reports whether a function looks things up.
func IsFunction(function string) bool {
	return function == "lookup" || function == "query" || function == "q"
}
