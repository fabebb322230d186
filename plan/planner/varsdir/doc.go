// Package varsdir finds the files of variables that a playbook does not name one by one: those that include_vars reads from a directory,
// and the first that exists of an entry of vars_files.
//
//	dir, depth, files_matching, ignore_files, extensions ──Request.Files──▶ the files, in the order in which they count
//	names, with the variables below ──Candidates.First──▶ the file
package varsdir
