// Package compile reads what is written under the keys of a task, once for all hosts and rounds of loops.
//
//	playbook.Task ──CompileTask──▶ plan.Compiled: conditions, arguments by name, the action's declaration
//	arguments, rendered ──Decode──▶ plan.Call
//
// It renders nothing by itself: a Renderer is given the variables of a place. What is wrong with a key goes to the Collector.
package compile
