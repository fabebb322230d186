// Package source knows files by their content: those that a plan is made from, and what a step reads on the machine that moon runs on,
// such as the `src` of a copy.
//
//	name in a playbook ──Lookout, Search──▶ path ──Disk──▶ text, the same for the whole plan
//	path ──Look──▶ digest, size, kind ──compared when the step starts──▶ the file that was approved, or another
//
// Where files are looked for is decided here, for planning as for doctor. The content of what steps read is not kept.
package source
