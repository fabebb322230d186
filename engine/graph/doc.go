// Package graph is the execution graph as pure data: nodes, edges with the outcomes they wait for, joins.
//
//	Plan ──Build──▶ Graph (nodes in topological order, references only backwards)
//
// Strategies, loops, rescue and handlers are shapes of edges and attributes of nodes; nothing here runs, and the engine
// that runs it knows none of those words.
package graph
