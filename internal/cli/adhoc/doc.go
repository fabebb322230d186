// Package adhoc makes a playbook of one task from the words of a call.
//
//	moon do web apt name=nginx ──Playbook──▶ a play in memory ──plan, Ask, run──▶ as any other
package adhoc
