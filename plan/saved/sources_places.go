package saved

import (
	"encoding/json"
	"maps"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/reread"
	"moon/secret"
)

// keepOpened are the items of opened loops as they may be kept: secrets in them stand as references to where they come from, and of
// what comes from nowhere else, or was hidden by no_log, only the number is kept.
func keepOpened(p *plan.Plan) map[string]plan.Found {
	if len(p.Basis.O.Opened) == 0 {
		return nil
	}
	kept := map[string]plan.Found{}
	for path, found := range p.Basis.O.Opened {
		sealed, ok := p.Basis.Secrets.Seal(found.Items)
		forms, also := p.Basis.Secrets.Seal(found.Forms)
		if list, _ := sealed.([]any); ok && also && !found.Hidden && found.Withheld == 0 {
			found.Items, found.Forms, found.Sealed = list, forms, true
		} else {
			found = plan.Found{Items: []any{}, Withheld: max(len(found.Items), found.Withheld)}
		}
		kept[path] = found
	}
	return kept
}

// restoreOpened are the items with what stands for those that are not kept: a plan can be shown with it, and not run.
func restoreOpened(kept map[string]plan.Found) map[string]plan.Found {
	all := maps.Clone(kept)
	for path, found := range all {
		for range found.Withheld {
			found.Items = append(found.Items, "(an item that is not kept)")
		}
		all[path] = found
	}
	return all
}

// Found are items as an input of a plan, in the form in which they are read again: the plan that is made of them now and the one that is
// made again are the same.
func Found(items []any, hidden bool) (plan.Found, error) {
	known := value.Reveal(items)
	f := plan.Found{Hidden: hidden, Order: value.Order(known), Forms: value.Forms(known)}
	text, err := json.Marshal(plan.JSONValue(value.Plain(known)))
	if err == nil {
		err = json.Unmarshal(text, &f.Items)
	}
	if f.Items == nil {
		f.Items = []any{}
	}
	return f, err
}

// Items are the items of an opened loop as names have them. In plays maps have an order.
func Items(of plan.Found, secrets *secret.Set, ordered bool) []any {
	list, forms := any(of.Items), of.Forms
	if of.Sealed {
		// The files that the secrets come from were read for the steps that gave them.
		if opened, ok := secrets.Open(list); ok {
			list = opened
		}
		if opened, ok := secrets.Open(forms); ok {
			forms = opened
		}
	}
	list = value.Reform(WholeNumbers(list), forms)
	if ordered {
		list = value.Reorder(list, of.Order)
	}
	all, _ := value.Mixed(secrets, list).([]any)
	return all
}

// rereads reports whether the run has read the inventory again.
func (s *Sources) rereads() bool {
	for _, found := range s.Opened {
		for _, item := range found.Items {
			if m, ok := item.(map[string]any); ok && reread.Is(m) {
				return true
			}
		}
	}
	return false
}

// Hidden are the paths of opened loops whose items are not kept, in the order of their names.
func (s *Sources) Hidden() (paths []string) {
	for _, path := range plan.SortedKeys(s.Opened) {
		if s.Opened[path].Withheld > 0 {
			paths = append(paths, path)
		}
	}
	return paths
}
