// moon plans and runs YAML playbooks in front of the user.
//
// Start reading at engine/session.go, which draws the whole flow; plan/plan.go says what a plan is, events/event.go
// what is known about a run, tui/model.go how it is shown. The commands are in internal/cli.
package main

import (
	"os"

	"moon/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
