//go:build race

package tui

// raced says that the race detector is on, which makes everything ten times slower. What draws is one goroutine, so it finds little there.
const raced = true
