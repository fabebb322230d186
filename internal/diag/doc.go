// Package diag holds what moon says about a playbook: a place, a sentence, and a way out.
//
//	parser, planner, doctor ──Add──▶ List ──▶ text for people, with the line quoted · JSON for editors
//
// It knows nothing about playbooks.
package diag
