// Package frame has what is drawn around the panes and next to them: header, footer, rules, the rows of the tree, the matrix of hosts
// and tasks, the card of a tiny terminal. Draw puts them together.
//
//	view.State ──▶ Draw ──┬─ header, rules, footer
//	                      ├─ rows of the tree, or the matrix      ──▶ draw.Brush: rows of cells, spots for the mouse
//	                      └─ pane.DetailPane, or its last lines
//
// A part is a type of its own around a view.State. Drawing decides nothing and asks nothing of the run: what it notes in the State is
// what was drawn where, for scrolling and for clicks. What lies over the panes is laid over the finished frame by the caller.
package frame
