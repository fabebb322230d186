// Package way has the words of programs that lead to machines which are not reached by ssh, such as containers. It starts nothing.
//
//	variables of a host ──planner──▶ New(kind, words) ──▶ plan, digest ──▶ Argv ──▶ process of a connection
package way
