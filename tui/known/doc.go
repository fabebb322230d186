// Package known is the run as far as a screen knows it, and what follows from that: what runs next, what steps wait for, what would be
// skipped, where breakpoints are, what steps would do. It knows no cursor and no cells; what draws owns a Run and asks it.
//
//	feed ──▶ Store ──▶ Sync ──▶ Run (Shot, Tree, Breaks …) ──▶ questions
//	                             │                  ▲
//	                   Send ◀────┤                  └── Take(Answer): what was found out in the background
//	                (commands)   └──▶ AskWaits, AskBound, AskLacking
//
// The Run belongs to one goroutine, the TUI's. Only Store and Predicted are shared, and have locks.
package known
