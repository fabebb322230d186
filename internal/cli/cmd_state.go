package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"moon/engine"
	"moon/internal/termtext"
)

type stateCmd struct {
	Playbook string `arg:"" optional:"" help:"The playbook; default moon.yml or playbook.yml."`
	Format   string `enum:"text,json" default:"text" help:"text or json."`
}

// Run lists what runs of a playbook have made. The playbook itself is not read: it may be gone.
func (c *stateCmd) Run(io stdio) error {
	path := c.Playbook
	if path == "" {
		var err error
		if path, err = usualPlaybook(); err != nil {
			return err
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return usage("%s", err)
	}
	root, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return usage("no such directory: %s", filepath.Dir(path))
	}
	runs, err := runsDir()
	if err != nil {
		return err
	}
	list, err := engine.ReadState(statesDir(runs), root, filepath.Base(path))
	if err != nil {
		return &exit{exitDisk, err.Error()}
	}
	if c.Format == "json" {
		enc := json.NewEncoder(io.out)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"playbook": filepath.Join(root, filepath.Base(path)), "made": append([]engine.Made{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(io.out, "nothing is recorded of %s\n", filepath.Base(path))
		return err
	}
	w := tabwriter.NewWriter(io.out, 0, 4, 2, ' ', 0)
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
