//go:build race

package playbook_test

const raceEnabled = true
