// Package reference is the commands that say what moon knows by itself. They read no playbook and plan nothing.
//
//	facts of this machine ─▶ Facts · declarations of the actions ─▶ Actions · keys of playbooks ─▶ Schema · how it was built ─▶ Version
package reference
