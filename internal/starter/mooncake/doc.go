// Package mooncake makes playbooks of moon of those that were written for mooncake, which has other names for some of what steps do.
//
//	text ──parse──▶ nodes ──rewrite──▶ nodes with moon's actions ──▶ text, with a note for what has no counterpart
//	         └─ repair: quotes what is not YAML because of a colon
//
// Comments and the order of keys stay. What moon takes as it is written is not touched.
package mooncake
