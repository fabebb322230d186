//go:build race

package cli

// raced says that the race detector is on, which takes several times the memory.
const raced = true
