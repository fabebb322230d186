// Package tree is the plan as a person sees it: nodes, how each stands, what is folded, where the cursor is, what is filtered and
// found. Its owner is the screen's goroutine; nothing here is drawn, and nothing asks the run.
//
//	plan ──▶ Grow ──▶ Tree (nodes in pre-order, states, tallies)
//	                   ├──▶ Filter, Finder ──▶ nodes that are kept ──▶ Collapse ──▶ rows
//	                   └──▶ Cursor: a node, and a window on the rows
//
// What must hold: a subtree is a stretch of nodes, so that rows are found in one pass; folding, marks and the cursor are carried to
// another plan by the paths of nodes, never by their numbers.
package tree
