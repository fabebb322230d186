// Package engine decides when. It builds the execution graph of a plan, keeps the run's state as a fold over facts,
// writes them to a journal, and starts what may start.
//
//	          ┌──────────────── loop, the one owner of the state ────────────────┐
//	commands ─┤ inbox ─▶ facts ─▶ journal (durable) ─▶ state ─▶ next decision ────┼─▶ workers (exec)
//	          └───▲─────────────────────────────────────────────────────────────┘       │
//	              └──────────────────────── reports ────────────────────────────────────┘
//	journal ─▶ Follow: fold again ─▶ events ─▶ screen, text, json
//
// Workers only report. Views read the journal at their own pace: what is published is what was appended, after it was
// appended. What a step does is package exec's, what is shown is the views'.
package engine
