// Package app is what the commands of moon do, without the flags they are called with and without the TUI: an Invocation holds
// what one call of moon reads, writes and has only once; a request says what is wanted of it.
//
//	cli: flags ──▶ request ─┐
//	                        ▼
//	Invocation ──▶ plan.Options ──engine.Build──▶ Plan, Graph ──Start──▶ engine.Session ──Attend──▶ outputs, exports, exit code
//	  Terminal   one at a time has it: a screen, the text of a run, an interactive step
//	  Signals    the latest handler hears them: a question ◀ a run ◀ moon itself
//	  Hosts      connections made to plan are kept for the run
//	  Asker      programs that moon runs for answers, with limits
package app
