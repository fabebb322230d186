// Package pointless refuses keys that have no effect on the step they are written on.
//
//	keys of a step, its action ──▶ Check, CheckInteractive ──▶ mistakes: which key, why, what to write instead
package pointless
