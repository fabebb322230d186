// Package prompts has variables typed that the playbook asks for with vars_prompt.
//
//	vars_prompt ──▶ Ask: what neither -e, a file nor an earlier answer gives ──Options.Outside.Ask──▶ answers, by name
//
// Each answer is asked for once, however often the plan is made. If no one can be asked, the default counts.
package prompts
