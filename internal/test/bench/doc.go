// Package bench measures moon from outside, as a process.
//
//	go build ──▶ moon ──▶ wall time and memory ──▶ the budgets of docs/performance.md
package bench
