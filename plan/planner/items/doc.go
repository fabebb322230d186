// Package items finds out what loops run over.
//
//	loop as written, variables at its place ──Items──▶ items, each known or open
//	                                             └──▶ what is missing, if not even their number is known
//	item ──Context, OnHost──▶ its label, what the round knows of its loop
//
// The items of a loop over the results of another are open, but known by number and by what each is about.
package items
