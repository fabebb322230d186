// Package additions keeps what steps may add to the inventory: hosts and memberships of groups that add_host and group_by bring about if
// they are reached, which only the run knows.
//
//	Note ──▶ List ──RefuseRemoved──▶ a pattern that an addition would keep a host from
//	          └─────Gates──────────▶ for each host of a pattern: the steps that decide whether it is there
//	arguments of the run ──PendingOf──▶ Late ──Close──▶ what is still to come, as far as it is known
//	result of a step ──ArgsOf──▶ what it has added
//
// It asks the inventory what a pattern would match without an addition, and knows neither tasks nor variables.
package additions
