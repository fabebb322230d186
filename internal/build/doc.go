// Package build says which moon this is.
//
//	-ldflags -X, and what the go command stamps ──Stamp──▶ one text, the same in moon and in the agent of its sources
package build
