// Package unequal finds comparisons that never hold: of a field of a command's result, whose type is known, with a constant of another.
//
//	a text with conditions ──Check──▶ warnings
package unequal
