// Package dialect is what differs between the two languages of playbooks, steps and the plays of Ansible, which have one planner and
// one engine. Whoever parses a playbook knows which it is, once; what is made of it carries the answer, and asks it at the few edges
// where the two must differ. It imports nothing, so that values, jobs and runs can carry it.
//
//	playbook.Parse ─▶ Dialect ─▶ Plan ─▶ Task, Result, Job ─▶ Rules (data, a column for each) · Of.In (what is done, one for each)
package dialect
