// Package lookups has what lookup, query, and with_NAME of plays, look up: variables, files, commands, passwords, lists made of lists.
//
// It owns the names, the terms and the options of lookups. What they read of the machine and the inventory comes from call.World, which
// may say that something is known only when the step runs.
//
//	lookup('name', term, …) ── Run ──▶ Find ──▶ Plugin.Run(input, terms) ──▶ World
//	with_NAME ── eval.Engine.LookupItems ─┘          │
//	                                                 └──▶ filters: zip, product, subelements
//
// hints.go says what steps have instead.
package lookups
