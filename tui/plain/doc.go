// Package plain holds the front ends that only tell: text for people and logs, JSON for programs, and the report that is left in
// the terminal.
//
//	feed ──▶ Text · JSON · GitHub · JUnit · Ansible ──▶ writer        Plan, Run ──▶ Report, Show
//
// Each is a reader of the same stream of events; state is shown in words.
package plain
