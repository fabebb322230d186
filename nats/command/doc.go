// Package command is the command line of moon-nats: all of moon's, with runs that are kept in the stream, and commands of its own.
//
//	args ─▶ flags of NATS ─┬─ serve, runs, worker                                        here
//	                       ├─ attach, show, resume RUN ─▶ mirror of the run ─▶ moon's own command
//	                       └─ run, tui and the rest ─▶ moon's own command, with the recorder on its disk
//
// Its runs are in a state directory of their own, so that moon without a stream never continues one of them.
package command
