// Package test is moon-nats from outside: a server of its own, processes that are killed, and the logs that their steps have written.
//
//	server ◀── moon-nats run (state A) · moon-nats attach, resume (state B) ──▶ log of the steps, journals
package test
