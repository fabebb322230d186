// Package process owns the processes that moon starts: each in a session of its own, with its output drained, and ended
// with all that it has started.
//
//	Command ─Run─▶ child (one thread: start, drain, reap) ─▶ Exit
//	   │              ▲ signals to its group: ctx, Now, EndAll
//	   └ TTY: a pseudo terminal joined to the user's, instead of pipes
//
// What escapes a group is found by a mark in its environment, or by its cgroup (EndRun, EndLeft). An Asker runs programs for
// what they print, within bounds of time and size. When to run and what an exit means is for the caller.
package process
