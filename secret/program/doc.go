// Package program is about secrets that a program prints, such as pass, sops, age and op.
//
//	secret(['pass', 'show', 'db']) ──▶ Request ──Key──▶ Asked: asked once ──▶ text ──Learn──▶ secret.Set, value
//	a stored result ──Set.Missing──▶ ParseKey ──▶ Request: asked again when a run is resumed
//
// It starts nothing itself: who asks gives the function that does. What was printed is kept in memory, for as long as the process lasts.
package program
