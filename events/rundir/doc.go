// Package rundir knows where each file of a run is: the engine writes them, views and commands read them, and both ask here. What is in
// a file belongs to the package that writes it.
//
//	runs/RUN ─┬─ journal.jsonl      engine/journal: what happened
//	          ├─ blobs/DIGEST       engine/journal: values too large for a line of it
//	          ├─ out/STEP…          events/steplog: the output of steps
//	          ├─ plans/DIGEST.json  engine: what the plans of the run were made from
//	          ├─ lock               engine: whose run it is
//	          └─ control.sock       engine/control: commands, while the run is in progress
package rundir
