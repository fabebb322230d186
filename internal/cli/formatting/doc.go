// Package formatting is the command `moon fmt`.
//
//	files, directories, standard input ──▶ internal/formatter ──▶ the files, their names, a diff
package formatting
