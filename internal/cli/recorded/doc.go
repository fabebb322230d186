// Package recorded is the commands that change what is recorded of a playbook. They read no playbook and look at no machine.
//
//	state file ─▶ Remove, Move, Restore ─▶ a record more
package recorded
