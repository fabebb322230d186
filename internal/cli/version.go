package cli

import (
	"fmt"
	"runtime/debug"
	"strings"

	"moon/internal/app"
)

// Version is set when a release is built.
var Version = "dev"

// build says which moon this is: two of the same version that were built from different sources differ.
func build() string {
	words := []string{Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "vcs.") {
				words = append(words, s.Value)
			}
		}
	}
	return strings.Join(words, " ")
}

type versionCmd struct{}

// Help shows the call.
func (versionCmd) Help() string {
	return `Prints the version, and nothing else.

  moon version`
}

func (versionCmd) Run(call *app.Invocation) error {
	_, err := fmt.Fprintf(call.Out, "moon %s\n", Version)
	return err
}
