package facts

// FactGatherers are the names of all that facts are gathered by.
func FactGatherers() []string {
	var names []string
	for _, g := range gatherers {
		names = append(names, g.name)
	}
	return names
}
