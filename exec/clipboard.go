package exec

import (
	"context"
	"os"
	osexec "os/exec"
	"runtime"
	"strings"
	"time"
)

// clipboardTime is how long a program may take to take a text: one whose display is gone waits for it.
const clipboardTime = 3 * time.Second

// Clipboard puts a text on the clipboard by the programs that this machine has for it, and names those that took it. Over
// SSH the clipboard is on another machine; only tmux can reach it, through its terminal.
func Clipboard(text string) (by []string) {
	ctx, cancel := context.WithTimeout(context.Background(), clipboardTime)
	defer cancel()
	for _, way := range clipboards(runtime.GOOS) {
		for _, argv := range way {
			cmd := osexec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin = strings.NewReader(text)
			if cmd.Run() == nil {
				// One tool that took it is enough for each clipboard.
				by = append(by, argv[0])
				break
			}
		}
	}
	return by
}

// clipboards are the clipboards there are here, each with the commands that may reach it.
func clipboards(system string) (ways [][][]string) {
	if os.Getenv("TMUX") != "" {
		ways = append(ways, [][]string{{"tmux", "load-buffer", "-w", "-"}})
	}
	switch {
	// The programs of this machine would fill the clipboard of the server, which no one sees.
	case os.Getenv("SSH_CONNECTION") != "" || os.Getenv("SSH_TTY") != "":
	case system == "darwin":
		ways = append(ways, [][]string{{"pbcopy"}})
	case os.Getenv("WAYLAND_DISPLAY") != "":
		ways = append(ways, [][]string{{"wl-copy"}})
	case os.Getenv("DISPLAY") != "":
		ways = append(ways, [][]string{{"xclip", "-selection", "clipboard", "-in"}, {"xsel", "--clipboard", "--input"}})
	}
	return ways
}
