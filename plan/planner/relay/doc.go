// Package relay lets hosts see what a task has set on others, or on them under a name that stands for more: the result of a task with
// run_once, what failed in a block, the own result among those of all hosts.
//
//	bindings of some machines ──Once, Broken, Own──▶ bindings of all, from here on
//
// It also says what a task gives its host as facts by its arguments.
package relay
