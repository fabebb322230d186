// Package lint finds what works and is likely to hurt later, in playbooks of plays and of steps.
//
//	playbook ──▶ walk ──▶ rule_*.go ──▶ Finding (rule, place, Edit) ── noqa ──▶ moon lint
//	                                                     └── Fix ──▶ the text of a file
//
// A rule is one file: it is given a task, a condition or a template, and says what it makes of it. It neither walks nor opens files. An
// Edit never changes what a playbook does. What cannot be planned is for moon validate and moon doctor.
package lint
