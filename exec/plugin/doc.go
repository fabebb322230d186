// Package plugin lets programs that are not moon's carry out steps. It finds them, asks whether they are trusted and what they
// can do, and talks to them; which step when is the engine's, and processes are package exec's.
//
//	playbook ─▶ plan ── Has, Action ──▶ Registry ── describe ─▶ the program      what can it do?
//	                                       │ trust: path and SHA-256
//	engine ─▶ exec.Local ── PluginCall ─▶ Host ─┬─ execute ─▶ a process a call   JSON in, the last line out
//	                                            ├─ execute ─▶ one for the run    JSON-RPC, a line each
//	                                            └─ module  ─▶ as Ansible has it  arguments in a file, or a pack in Python
//
// A capability is a kind of work under a name: execute.shell, inventory.file. Those of moon itself and those of plugins stand
// in one map. docs/plugins.md is the protocol, for authors.
package plugin
