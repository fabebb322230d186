// Package agent is a host that calls home: it connects to NATS, and runs there what sessions ask for.
//
//	moon.agents.NAME.open ──▶ program: /bin/sh … in a session of its own
//	moon.agents.NAME.ID ────▶   Pipe ─▶ stdin
//	moon.sessions.NAME.ID ◀──   Pipe ◀─ stdout, stderr, exit code
//	moon.agents.NAME.who ◀──▶ other agents of the name: all but one end
//
// The agent owns what it starts: when a session is lost, the program sees the end of its input, and its group is killed if it does not end
// by itself. It knows nothing of plays; moon's own agent, which is what usually runs, is carried over like to any host.
package agent
