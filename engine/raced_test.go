//go:build race

package engine

// raced says that the race detector is on, which takes several times as long.
const raced = true
