package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"moon/engine"
	"moon/internal/app"
	"moon/internal/termtext"
)

type stateCmd struct {
	Playbook string `arg:"" optional:"" help:"The playbook; default moon.yml or playbook.yml."`
	Format   string `enum:"text,json" default:"text" help:"text or json."`
}

// Help says what is listed.
func (stateCmd) Help() string {
	return `Lists the files, packages, users and so on that steps have recorded, with the run that created each. It also works if the playbook
has been deleted.

  moon state site.yml
  moon state site.yml --format json`
}

// Run lists what runs of a playbook have made. The playbook itself is not read: it may be gone.
func (c *stateCmd) Run(call *app.Invocation) error {
	path := c.Playbook
	if path == "" {
		var err error
		if path, err = usualPlaybook(); err != nil {
			return err
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return app.Usage("%s", err)
	}
	// The playbook may be gone, so only its directory is resolved, as planning does.
	root, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return app.Usage("no such directory: %s", filepath.Dir(path))
	}
	state, err := app.StateDir()
	if err != nil {
		return err
	}
	list, err := engine.ReadState(state.Resources(), root, filepath.Base(path))
	if err != nil {
		return app.NewExit(app.ExitDisk, err.Error())
	}
	if c.Format == "json" {
		enc := json.NewEncoder(call.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"playbook": filepath.Join(root, filepath.Base(path)), "made": append([]engine.Made{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(call.Out, "nothing is recorded of %s\n", filepath.Base(path))
		return err
	}
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT\tMADE\tBY\tSTEP\tNAME")
	for _, m := range list {
		word := "changed"
		if m.Created {
			word = "created"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Type, word, m.Action, termtext.CleanName(m.Step), termtext.CleanName(m.Name))
	}
	return w.Flush()
}
