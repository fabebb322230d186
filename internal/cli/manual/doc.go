// Package manual writes the command line down for other programs: shells that complete it, and man.
//
//	model of the commands ─▶ Completion ─▶ bash, zsh, fish · model and help ─▶ Pages ─▶ man
//
// All of it comes from the declarations that --help prints.
package manual
