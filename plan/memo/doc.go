// Package memo keeps what variables have given that are rendered where they are used. Such a variable may name others many times over, and
// they others: without it the work would double with each.
//
//	a name of a template ─▶ Memo: each variable below it once ─┐
//	another name of the same step ─▶ Memo ─────────────────────┴─▶ Step: what is the same for all names of a step
package memo
