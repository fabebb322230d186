//go:build !race

package playbook_test

const raceEnabled = false // the race detector makes everything ten times as slow
