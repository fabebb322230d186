// Package output keeps what steps print: byte-exact files beside the journal, both streams apart, with the order
// between them, and a reader that follows them while they grow.
package output
