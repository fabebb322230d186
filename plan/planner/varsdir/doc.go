// Package varsdir finds the files that include_vars reads from a directory.
//
//	dir, depth, files_matching, ignore_files, extensions ──Request.Files──▶ the files, in the order in which they count
package varsdir
