// Package history is the runs on disk: which there were and are, what became of each, and who has it.
//
//	runs/ID/journal.jsonl ──▶ List, Find, Latest ──▶ Past ──▶ Outline (events without a plan), Remove
//	runs/ID/lock ◀──Lock, Sign── Owner ──▶ Taken, InProgress: other runs on the same target
//
// It reads journals and no plans, so that it knows of runs whose playbooks are gone. A run belongs to the process that holds its
// lock; nothing here changes a run that another process has. What runs do is the engine's.
package history
