// Package journal keeps the entries of a run on disk.
//
//	entry ──▶ line: CRC-32C in lower-case hex, a space, JSON ──append──▶ journal.jsonl ──sync──▶ durable
//	  └ too large for a line ──▶ blobs/DIGEST, durable before the line that names it
//	journal.jsonl ──Read──▶ entries, up to the last whole one
//
// Lines are only ever appended and their sequence numbers are dense, so a damaged tail is recognised and cut at the last whole
// line; everything before it stands. The package stores and reads; what the entries mean is the engine's.
package journal
