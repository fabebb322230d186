// Package durations remembers across runs how long the steps of a playbook took, and how they ended last. It owns that file, and what
// follows from it: which steps go first, and how long a run may take.
//
//	events ──▶ Stopwatch ──Write──▶ durations/PLAYBOOK.json ──Read──▶ Steps, Lasts ──▶ Ranks, Forecast
//
// Nothing depends on it: a file that cannot be read is as one that was never written.
package durations
