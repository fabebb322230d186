package app

import (
	"context"

	"moon/exec/process"
)

// NotifyBy notifies with a command of the user's, which is given the text as its last argument. That it fails is not worth a word: it is
// said on the screen, too.
func NotifyBy(command string) func(text string) {
	return func(text string) {
		var asker process.Asker
		_, _ = asker.Run(context.Background(), process.ShellPath, "-c", command+` "$1"`, "moon", text)
	}
}
