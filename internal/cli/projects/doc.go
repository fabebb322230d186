// Package projects is the commands `moon init` and `moon new`.
//
//	a directory, a Makefile, a script ──▶ internal/starter ──▶ files, and what to do next
package projects
