// Package counterpart finds the steps of a plan in an earlier plan of the same playbook.
//
//	plan now, plan before ──Of──▶ for each step its number before, or -1: by path and digest, by content, by name
package counterpart
