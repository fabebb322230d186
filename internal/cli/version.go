package cli

import (
	"fmt"

	"moon/internal/app"
	"moon/internal/build"
)

type versionCmd struct{}

// Help shows the call.
func (versionCmd) Help() string {
	return `Prints the version, and nothing else.

  moon version`
}

func (versionCmd) Run(call *app.Invocation) error {
	_, err := fmt.Fprintf(call.Out, "moon %s\n", build.Version)
	return err
}
