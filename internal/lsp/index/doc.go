// Package index knows what a playbook names and where: the variables, ids, handlers, files and roles of all files that it leads to.
//
//	playbook ──walk──▶ Index: marks (definitions and uses), tasks, plays, files
//	    └────planner.Check──▶ plan, diagnostics
//	                 both ──▶ Book, which keeps the last plan and the last index that could be made
//
// Nothing is run and no host is asked. A Book does not change once it is made; Next makes the one after it.
package index
