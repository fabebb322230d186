// Package agent is the far end of a connection as a process: what the scripts of exec/remote start on a host, or as another user.
//
//	agent [--clean] [--kept] [--keep] [--unlink] ──Run──▶ remote.Serve on standard input and output, until they or a signal end it
//
// moon itself is one (a hidden command), and so is moon-agent, a program that is nothing else.
package agent
