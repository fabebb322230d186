// Package nearby names the files of diagnostics as an editor finds them from the working directory.
//
//	diag.List with names from the playbook's directory ──FromHere──▶ the same with names from here
package nearby
