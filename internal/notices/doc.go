// Package main writes the licences of all modules that moon and its agent are linked from, for releases.
//
//	go list -deps, for each system ──packages──▶ modules ──their directories──▶ files of licences ─▶ one text
//
// `make release-files` calls it. It fails if a module has no licence: a release may not go without.
package main
