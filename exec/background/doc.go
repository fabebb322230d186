// Package background keeps what is known of jobs that run on by themselves, on the machine where they run.
//
//	Take ─▶ ID.lock, held for as long as the job may run      Write ─▶ ID: accepted ─▶ begun ─▶ finished, each in one piece
//	State: the record says finished ─▶ done;  the lock is held ─▶ running;  neither ─▶ lost, or not begun yet
//
// The lock is the system's, so it goes with the last process that has it: a job whose keeper was killed is never taken for one that runs.
// What a job does is package exec's; package remote starts its keeper.
package background
