// Package fakes is what the suites of internal/test share: a moon that the test binary itself is, people and machines around it.
//
//	suite ──RunSuite──▶ test binary ──called as moon──▶ cli.Main, which may die or panic at a point
//	      ──OpenTerminal──▶ pseudo terminal, emulated ──▶ what a person sees, keys
//	      ──NewPatient──▶ a playbook that is run, killed, resumed ──▶ its journals, read again
//
// It asks nothing of moon that a user could not ask, but for the points at which it dies.
package fakes
