package plan

// MagicNames are the variables that nothing can hide, as the code finds them.
func MagicNames() []string { return SortedKeys(magicNames) }
