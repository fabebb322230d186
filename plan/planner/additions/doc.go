// Package additions keeps what steps may add to the inventory: hosts and memberships of groups that add_host and group_by bring about if
// they are reached, which only the run knows.
//
//	Note ──▶ List ──RefuseRemoved──▶ a pattern that an addition would keep a host from
//	          └─────Gates──────────▶ for each host of a pattern: the steps that decide whether it is there
//
// It asks the inventory what a pattern would match without an addition, and knows neither tasks nor variables.
package additions
