// Package playbook reads playbooks into a tree as written: every value with its place, nothing rendered, nothing resolved.
//
//	text ──yaml.v3──▶ nodes ──Parse──▶ File: steps, blocks, plays, tasks, each Value with file, line and column
//	                            └─────▶ diag.List: every mistake that can be found
//
// Parse returns what it understood next to the mistakes. It is given which actions exist; what their arguments mean, what a
// template says and what a name stands for is the planner's.
package playbook
