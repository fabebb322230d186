// Package exec does one thing: it runs an action, or says what the action would change.
//
//	Job ──Local.Run──▶ guards ──▶ Action ──▶ processes, files ──▶ Result: status, values, change
//	    ──DryRun.Run─▶        └─▶ the same action over the overlay of what earlier steps would have changed
//
// What the actions do is in package action, which registers each by its name; here is what all of them have in common: the
// Attempt that they are given, the Change that they plan, and the tools that they ask.
//
// It owns processes, output capture and facts; nothing else in moon starts a process. When to run, whether to try again and what
// a failure means is the engine's.
package exec
