// Package fleet runs plays on hosts that are reached by ssh, and steps as other users.
//
//	playbook ──▶ moon ──ssh──▶ servers of this machine, each with a home of its own ──▶ files of the hosts, counts
package fleet
