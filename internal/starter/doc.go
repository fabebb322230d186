// Package starter writes the first files of a project: a playbook with comments, or one made of a Makefile or a shell script, what a
// repository, CI and a development container need, and roles.
//
//	nothing ───────▶ Project ─┐
//	Makefile ──FromMakefile──▶├──▶ files ──Write──▶ a directory, in which nothing is overwritten
//	script ────FromScript────▶┘           a playbook for mooncake ──mooncake.From──▶ one for moon
//
// What it makes is planned without a warning. Of a Makefile or a script it takes what it can say in steps, and leaves the rest to make and
// to the shell.
package starter
