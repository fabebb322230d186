// Package doctor finds what moon cannot do of a playbook, without running anything, so that one thing that is missing does not hide the
// next.
//
//	playbook ──▶ surveyor: files of tasks, roles, variables, templates ──▶ Survey ──▶ moon doctor
//	    └──────▶ planner.Check: what planning says ──────────────────────────┘
//
// It looks for files on the search paths of the planner and asks nobody: what only the run knows is listed as not followed.
package doctor
