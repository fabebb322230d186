package inventory

import (
	"slices"
	"strings"
)

// InOrder are hosts in the order that a play asks for; it is not ok, and they stay as they are, if there is no such order.
func InOrder(hosts []*Host, order string) ([]*Host, bool) {
	// Cloned, as the list is the inventory's own, and other plays have it too.
	switch order {
	case "", "inventory":
	case "sorted", "reverse_sorted":
		hosts = slices.Clone(hosts)
		slices.SortFunc(hosts, func(a, b *Host) int { return strings.Compare(a.Name, b.Name) })
		if order == "reverse_sorted" {
			slices.Reverse(hosts)
		}
	case "reverse_inventory":
		hosts = slices.Clone(hosts)
		slices.Reverse(hosts)
	default:
		return hosts, false
	}
	return hosts, true
}
