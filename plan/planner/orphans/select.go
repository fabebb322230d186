package orphans

// selected says which things are concerned: all, or those that selectors name, with what was built on them.
func (f *finder) selected() func(i int) bool {
	if len(f.Prior.Only) == 0 {
		return func(int) bool { return true }
	}
	steps := map[string]bool{}
	for i := range f.things {
		for _, text := range f.Prior.Only {
			if f.things[i].Named(text) {
				steps[f.things[i].Step] = true
			}
		}
	}
	of := before(f.things)
	return func(i int) bool {
		if steps[f.things[i].Step] {
			return true
		}
		for step := range ancestors(of, f.things[i].Step) {
			if steps[step] {
				return true
			}
		}
		return false
	}
}
