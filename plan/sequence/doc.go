// Package sequence says what comes before what in a plan: the members of a scope in the order in which they run, and the steps that depend
// on others.
//
//	Plan: scopes, needs, unknown values ──Of──────────▶ Tree: Members, Parallel, Branches; Ordered finds circles
//	                                    ──Dependents──▶ steps that use, need or are notified by some
package sequence
