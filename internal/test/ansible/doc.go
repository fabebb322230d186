// Package ansible compares moon with what ansible-playbook answered.
//
//	testdata/ansible/* ──▶ moon ──▶ order, variables, results ──▶ compared with the recorded answers, or with ansible-playbook itself
package ansible
