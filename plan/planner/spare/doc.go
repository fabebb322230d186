// Package spare keeps a value to be used again: a plan of 100,000 steps needs one for each at a time, and not 100,000 of them.
//
//	Take ──▶ a value, whatever is in it ──▶ Give
package spare
