// moon-nats is moon with runs that are kept in a stream of NATS: they outlive their machine, and can be attended from any other.
//
//	command ─▶ record ─▶ link ─▶ NATS ─▶ link ─▶ mirror ─▶ command of another machine
//
// It is a module of its own, so that moon needs nothing of it. Start reading at command/doc.go.
package main

import (
	"os"

	"moon/nats/command"
)

func main() { os.Exit(command.Main(os.Args[1:])) }
