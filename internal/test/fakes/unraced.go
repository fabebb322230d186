//go:build !race

package fakes

// Raced says that the race detector is on, which takes several times the memory.
const Raced = false
