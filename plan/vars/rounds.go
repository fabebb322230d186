package vars

// Rounds is what ansible_loop is made of in one round: the items of the loop, and which of them the round is for.
type Rounds struct {
	Items []Binding
	At    int
}

// Extended is ansible_loop: which of all items the round is for, and its neighbours.
func (r *Rounds) Extended(item func(b *Binding) any) map[string]any {
	all, i := make([]any, len(r.Items)), r.At
	for n := range r.Items {
		all[n] = item(&r.Items[n])
	}
	loop := map[string]any{
		"allitems": all, "index": i + 1, "index0": i, "first": i == 0, "last": i == len(all)-1, "length": len(all),
		"revindex": len(all) - i, "revindex0": len(all) - i - 1,
	}
	if i > 0 {
		loop["previtem"] = all[i-1]
	}
	if i+1 < len(all) {
		loop["nextitem"] = all[i+1]
	}
	return loop
}

// AnyOpen reports whether an item is known only in the run.
func (r *Rounds) AnyOpen() bool {
	for n := range r.Items {
		if r.Items[n].Open {
			return true
		}
	}
	return false
}
