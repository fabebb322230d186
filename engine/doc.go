// Package engine decides when. A Session is one run of a plan: it writes facts to a journal, folds them into the state (package
// state), and starts what may start.
//
//	          ┌──────────────── loop, the one owner of the state ────────────────┐
//	commands ─┤ inbox ─▶ facts ─▶ journal (durable) ─▶ state ─▶ next decision ────┼─▶ workers (exec)
//	          └───▲─────────────────────────────────────────────────────────────┘       │
//	              └──────────────────────── reports ────────────────────────────────────┘
//	journal ─▶ Follow: fold again ─▶ events ─▶ screen, text, json
//
// A Session lies in layers, each of which reaches only those before it: ledger (journal, state, what runs), observer (results, what was
// made, how long it took), attempts (workers and their reports), steering (commands, replacing the plan), hearing (other processes).
//
// Workers only report. Views read the journal at their own pace: what is published is what was appended, after it was
// appended. What a step does is package exec's, what is shown is the views'.
package engine
