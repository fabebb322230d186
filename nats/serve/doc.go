// Package serve is a server of NATS with JetStream in this process, for those who have none: one, or one of a cluster.
//
//	Options ──▶ New ──▶ server, ready ──Shutdown──▶ gone; what it keeps is in its directory
//
// It listens on this machine only, unless it is asked to listen elsewhere; then it wants a configuration that says who may do what.
package serve
