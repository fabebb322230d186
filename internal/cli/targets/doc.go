// Package targets says what a call of moon names next to playbooks: steps, blocks and tags that are to run with what they need.
//
//	moon run site.yml deploy :migrate ──Split──▶ playbooks, targets
//	moon run site.yml --list ──────────Write──▶ what can be named
package targets
