// Package connect finds out how the host of a step is reached, and who the step runs as.
//
//	keys around a task (Place) ─┐
//	variables of the host ──────┼──▶ ConnectionTo ──▶ plan.Connection, nil for this machine
//	command line (Options) ─────┘    BecomeOnHost, BecomeHere ──▶ plan.Become
//
// Variables count before keys, and keys before the command line, as with Ansible. Nothing is connected here.
package connect
