// Package policy reads the keys of a task that decide about its result: how often it is tried, how long, and what counts as a failure.
//
//	task, keys around it ──Fill──▶ Step: Retry, Timeout, MayFail, Confirm …      conditions on the result ──▶ names, checked
//	play, flags of the call ──OfPlay──▶ AnyFatal, MaxFail, Strategy
//
// Conditions on the result itself are evaluated only when there is one.
package policy
