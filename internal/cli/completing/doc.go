// Package completing says what may follow in a call that is being typed.
//
//	shell ── moon complete bash -- WORDS ──▶ ask: which word of which command ──▶ offers: flags, steps, tags, hosts, runs … ──▶ shell
//	                                                                    └─ source: the plan of the playbook, the inventory, the runs
//
// A playbook is planned as an editor has it planned: no program is started, no host is asked, nothing is trusted. What cannot be found
// out offers nothing.
package completing
