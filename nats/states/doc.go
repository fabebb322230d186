// Package states keeps what runs have made on hosts where other machines find it: the log of engine/statefile in a stream.
//
//	statefile ─Append─▶ moon.states.PLAYBOOK.HOST, at the place that the writer knows of ─▶ MOON_STATES
//	statefile ◀─Fetch── moon.states.PLAYBOOK.>, in one order for all machines
//
// It knows nothing of what is in a record. Whether a run may begin is not decided here either: of two writers, the stream refuses the second.
package states
