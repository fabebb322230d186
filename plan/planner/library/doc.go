// Package library reads the files of a plan, each once: playbooks, tasks, roles, presets, variables; it opens what Ansible Vault has
// encrypted, and notes what was read as an input of the plan.
//
//	path ──Read──▶ playbook.File ──LoadSteps, LoadTasks, LoadRole, LoadPreset──▶ parsed, once
//	                  │ vault, files of secrets ──▶ Request.Secrets
//	Enter ─▶ who includes whom ─▶ Leave
//
// It plans nothing and renders nothing. What is wrong with a file goes to the Collector, with the chain of those who name it.
package library
