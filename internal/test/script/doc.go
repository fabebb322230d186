// Package script runs moon in shell sessions.
//
//	testdata/script/*.txtar ──testscript──▶ moon ──▶ output, files, exit code ──▶ compared with the script
package script
