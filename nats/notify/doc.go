// Package notify tells others what happens in runs: that one waits for a person, has failed, or has ended.
//
//	MOON_RUNS, journals ──durable consumer──▶ lines ──the few that count──▶ webhook or command ──taken──▶ acknowledged
//
// What a receiver has not taken is offered again, with longer and longer pauses, and what follows waits. Who stops and comes back continues
// there; what was on its way then may come again, with the same key.
package notify
