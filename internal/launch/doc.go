// Package launch says what moon could begin with in a directory: its playbooks, each with its last run, and the runs that wait for the user.
//
//	directory ──Playbooks──▶ files that are playbooks ─┐
//	runs on disk ──────────────────────────────────────┴─▶ Choices ──▶ a list as text, or the picker
package launch
