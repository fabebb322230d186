// Package schedule submits jobs at times. A schedule is a job to copy, a cron expression, and the last time that was submitted.
//
//	Put ──▶ MOON_SCHEDULES ──watched by all workers──▶ due ─▶ job NAME-TIME, created once ─▶ last time, by compare-and-set
//
// The id of the job is made of the schedule and the time, so that of several workers which submit it at once one does. Times at which no
// worker was there are submitted once, together.
package schedule
