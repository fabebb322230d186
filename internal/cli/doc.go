// Package cli is moon's command line: flags in, a typed request out, an exit code back.
//
//	arguments ──kong──▶ command with its flags ──▶ request ──▶ internal/app ──▶ error or nil ──▶ exit code
//
// kong is known here and nowhere else. A command decides nothing that another front end would have to decide as well.
package cli
