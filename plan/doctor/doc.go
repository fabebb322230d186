// Package doctor finds what moon cannot do of a playbook, without running anything, so that one thing that is missing does not hide the
// next.
//
//	playbook ──▶ walk ──▶ rule_*.go: modules, lookups, templates, plugins, names, what is missing ──▶ Survey ──▶ moon doctor
//	    └──────▶ planner.Check: what planning says ──────────────────────────────────────────────────────┘
//
// A rule is one file with its state: it is visited by the walk, never walks itself, and knows no other rule. What only the run knows is
// listed as not followed.
package doctor
