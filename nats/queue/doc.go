// Package queue keeps jobs, which are saved plans that wait for a worker, and the locks by which two of them never work on the same thing.
//
//	Submit ──plan──▶ MOON_PLANS, ──job──▶ MOON_JOBS, ──its place──▶ MOON_QUEUE: moon.queue.LABELS.JOB
//	Worker ◀──places, in order── MOON_QUEUE; takes one: lock of the playbook ─▶ job: running ─▶ process ─▶ job: done, failed
//	process ──Bind: run──▶ job; refused if the job is not its own any more, before anything runs
//
// What a job is stands in MOON_JOBS alone, and changes there by compare-and-set; a place in the queue, or a lock, that a job does not bear
// out counts for nothing. So it does not matter where a worker is killed.
package queue
