// Package events is all that is known about a run: what happened, what was asked, and the state folded from both.
//
//	Command (what a person asks) ──▶ engine ──▶ Event (what happened) ──Apply──▶ Run (what every view shows)
//	                                                                     └─────▶ Estimate (how long it will still take)
//
// Event is sealed, one plain struct per kind, in the past tense; these are the events on the wire (`--output json`). The package
// imports nothing of moon's own, so a view needs nothing but a stream of events.
package events
