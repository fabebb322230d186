// Package series orders several playbooks of one call, and says what becomes of each after the others. It plans and runs nothing.
//
//	paths ──Order──▶ members, each behind those it imports from ──(internal/cli plans and runs them)──▶ Ended ──Summarise──▶ exit code
package series
