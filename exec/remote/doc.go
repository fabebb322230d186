// Package remote carries steps out as another user, and on other machines. It owns the connections: each is a second moon that was
// started there and is kept for the run, and frames that go to it and come back over its standard input and output.
//
//	Pool.Run ─▶ conn ── job, cancel, now, answers ──▶ Serve ─▶ exec.Local
//	             ▲  └─── output, moments, asks, reply ◀──┘
//	             └─ started by ssh on another machine, by sudo, su or doas, or directly where moon is root
//
// What a job does, and how its processes are stopped, is package exec's at both ends. What only the host has stays there
// and is asked for: the step's variables, the files it copies from, the records of the run. Frames know nothing of how the
// other end was reached. Who is to be another user on another machine is that by a connection of the agent there: each end has
// the same connections.
package remote
