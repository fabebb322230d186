// Package mirror makes the directory of a run on this machine from the stream, and keeps it as long as another machine runs it. What reads
// and attends runs of this machine then reads and attends that one: the mirror holds the run's lock and its socket in place of the process.
//
//	stream ──pieces, lines──▶ runs/ID ──▶ moon show, attach, resume
//	control.sock ──request──▶ moon.control.ID.USER ──▶ the process that has the run
//
// It only ever writes what the stream says. What a process wrote after another had taken its run from it does not count.
package mirror
