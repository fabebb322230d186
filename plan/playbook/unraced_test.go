//go:build !race

package playbook_test

const raced = false
