// Package documented says whether arguments fit what a module in Python documents, as the module itself will judge.
//
//	DOCUMENTATION ── package pymodule ──▶ Module: options, rules ── Check(arguments) ──▶ what is wrong, each with its field
//
// It is plain data and knows no Python: a plan keeps it, and checks arguments by it again when the values of the run are there. The types
// are as lenient as Ansible's: a list may be a text with commas, a number a text with digits.
package documented
