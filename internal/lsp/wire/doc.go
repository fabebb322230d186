// Package wire speaks JSON-RPC as the Language Server Protocol frames it, and has the types of version 3.17 that moon uses.
//
//	bytes ──Read──▶ Message: a request, a notification or an answer
//	bytes ◀─Write── Message
//
// It knows nothing of playbooks, and starts no goroutine.
package wire
