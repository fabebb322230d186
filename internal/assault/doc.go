// Package assault lets tests say what they try against a promise of docs/reliability.md.
//
//	test ──Tried(attack, n)──▶ log ──▶ internal/assault/cmd ──▶ table: promise, attack, tries, failures
//
// `make assault` has all tests try as much as they can; in an ordinary `go test` they try a sample, and nothing is logged.
package assault
