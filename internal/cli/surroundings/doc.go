// Package surroundings is what moon doctor says of the place that moon runs in.
//
//	ansible.cfg, environment ──▶ settings that moon ignores · PATH ──▶ programs that it may start
package surroundings
