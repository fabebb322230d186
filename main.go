// moon plans and runs YAML playbooks in front of the user.
//
// Start reading at DESIGN.md, the map; the doc.go of each package draws its flow. The commands are in internal/cli.
package main

import (
	"os"

	"moon/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
