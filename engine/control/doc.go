// Package control lets other processes of the same user send commands to a live run, through a socket in the run's
// directory. It carries lines and knows nothing of what they ask for; what becomes of them is the engine's.
//
//	moon attach ──▶ control.sock ──▶ one goroutine per connection ──▶ handle ──▶ the run's loop
//	            one JSON line each way, in turn; short, and with a deadline
//
// Whoever is at the other end, asleep, dead or malicious, costs the run one goroutine for a while and nothing else.
package control
