// Package tags decides which steps --tags and --skip-tags exclude.
//
//	Selection ──New──▶ Tags ──Exclude(tags of a step)──▶ whether it is excluded
//	Note(each tag of the playbook) ─▶ Check: a requested tag that no step has
package tags
