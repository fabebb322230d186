// Package record keeps a run of this process in the stream, while the engine writes it to the disk: a record counts as durable only when
// the stream has it too.
//
//	journal.Disk ──op──▶ Recorder ─┬─ lines of the journal, in order, at the number that is expected ──▶ stream ──ack──▶ durable
//	                               └─ values, plans, output, before the record that names them
//	lease, requests of others ◀──▶ one goroutine each, for as long as the run lasts
//
// Who writes at another number than the stream expects is refused: that is how a process learns that another has taken its run, before it
// starts anything more.
package record
