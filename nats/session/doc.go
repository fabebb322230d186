// Package session carries the standard input and output of a program over NATS, which keeps nothing and may lose anything.
//
//	moon-nats connect HOST CMD ─ open ─▶ agent ─▶ CMD
//	   Pipe ◀──── numbered items, acks, beats ────▶ Pipe
//
// Items arrive once and in order: what was not acknowledged is sent again. No side has more under way than the other has room for. A side
// that is silent for some beats is gone, and the session with it; both ends find that by themselves. What runs at the far end, and how it
// is ended, is for package agent.
package session
