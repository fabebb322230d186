// Package exec does one thing: it runs an action, or says what the action would change.
//
//	Job ──Local.Run──▶ guards ──▶ action ──▶ processes, files ──▶ Result: status, values, change
//	    ──DryRun.Run─▶        └─▶ the same action over the overlay of what earlier steps would have changed
//
// It owns processes, output capture and facts; nothing else in moon starts a process. When to run, whether to try again and what
// a failure means is the engine's.
package exec
