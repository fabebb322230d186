// Package statefile keeps what the runs of each playbook have made: a file of records, the oldest first, for each playbook.
//
//	journal ─▶ Recorder ─▶ Append ─▶ STATE/state/HASH.jsonl ─▶ Read ─▶ prior.State
//	                        │                ▲        └─▶ HASH.old/SERIAL.jsonl, the last states
//	                        └─▶ Log, of hosts ┘ which other machines have, too
//
// It owns these files and nothing else, and knows no more of a Log than its order: what is in a record is decided by package prior, and
// whether a run may begin by package history.
package statefile
