package starting

import (
	"context"
	"os"
	"path/filepath"

	"moon/internal/app"
	"moon/internal/launch"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/looks"
	"moon/tui/picker"
)

// choices are what moon can begin with here.
func choices() ([]launch.Choice, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, app.Usage("the working directory cannot be read: %s", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	past, _, err := app.PastRuns(0)
	return launch.Choices(dir, past), err
}

// List prints what Ask would let one choose from.
func List(call *app.Invocation) error {
	all, err := choices()
	if err != nil {
		return err
	}
	return launch.Write(call.Out, all)
}

// inksOf are those of the words about runs.
var inksOf = map[launch.State]draw.Ink{
	launch.Never: themes.Dim, launch.Live: themes.Running, launch.Done: themes.OK, launch.Failed: themes.Failed,
}

// Ask asks what to begin with, in a terminal that looks so, and gives the arguments of that call: those of the help if there is nothing to
// choose from, nil if nothing was chosen.
func Ask(call *app.Invocation, o looks.Options) ([]string, error) {
	all, err := choices()
	if err != nil || len(all) == 0 {
		return []string{"--help"}, err
	}
	items := make([]picker.Item, len(all))
	for i, c := range all {
		items[i] = itemOf(c)
	}
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	taken, err := picker.Run(ctx, o, os.Getenv, "moon: what to begin with", items)
	if ctx.Err() != nil {
		return nil, app.NewExit(app.ExitInterrupted, "")
	}
	if err != nil || taken < 0 {
		return nil, err
	}
	return all[taken].Args, nil
}

func itemOf(c launch.Choice) picker.Item {
	item := picker.Item{Section: "playbooks", Name: c.Name, About: c.About, Words: c.Last, Ink: inksOf[c.State], Verb: "review"}
	switch {
	case c.Run && c.State == launch.Failed:
		item.Section, item.Verb = "runs to resume", "resume"
	case c.Run:
		item.Section, item.Verb = "runs in progress", "attach"
	}
	return item
}
