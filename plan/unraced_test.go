//go:build !race

package plan_test

const raced = false
