// Package link is the way to NATS: the connection, and the names under which runs are kept there.
//
//	moon.runs.ID.journal   what happened, in lines of the journal, each message as the run made it durable
//	moon.runs.ID.file      pieces of the files that the journal names: values, plans, output
//	moon.states.PLAYBOOK.HOST  what runs have made on a host, in a stream of its own
//	moon.control.ID.USER   requests to the process that has the run, and its answers
//	leases/ID              who has the run, for as long as it says so
//	moon.agents.HOST.*     to the agent of a host: open, who, and by its id what goes into a session
//	moon.sessions.HOST.ID  what comes out of a session
//
// The first two are one stream, so that what a record names always comes before the record. It knows no runs, and decides nothing.
package link
