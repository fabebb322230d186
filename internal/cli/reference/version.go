package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"moon/exec/remote"
	"moon/internal/app"
	"moon/internal/build"
	"moon/internal/termtext"
)

// Version prints which moon this is.
type Version struct {
	Format string `enum:"text,json" default:"text" help:"text or json (text)."`
}

// Help says what is printed.
func (Version) Help() string {
	return `Prints the version, in the first line; then the commit that moon was built from and whether its sources were changed since, the version of
Go, the platform, and the agents: the programs that hosts of each system are sent. moon --version does the same.

  moon version
  moon version --format json`
}

// agent is an agent in the answer for programs.
type agent struct {
	System string `json:"system"`
	Path   string `json:"path"`
	Error  string `json:"error,omitempty"` // why it is not sent
}

// Run prints it.
func (c *Version) Run(call *app.Invocation) error {
	info, agents := build.ReadInfo(), []agent{}
	for _, a := range remote.FindAgents(build.Check) {
		one := agent{System: a.System, Path: a.Path}
		if a.Err != nil {
			one.Error = a.Err.Error()
		}
		agents = append(agents, one)
	}
	if c.Format == "json" {
		enc := json.NewEncoder(call.Out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			build.Info
			Agents []agent `json:"agents"`
		}{info, agents})
	}
	if _, err := fmt.Fprintf(call.Out, "moon %s\n", info.Version); err != nil {
		return err
	}
	w := tabwriter.NewWriter(call.Out, 0, 4, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(w, "  %s\t%s\n", name, value) } // the error is that of Flush
	commit := cmp.Or(info.Commit, "unknown")
	if info.Dirty {
		commit += ", and changes"
	}
	row("commit", commit)
	if info.Date != "" {
		row("date", info.Date)
	}
	row("go", info.Go)
	row("platform", info.Platform)
	if len(agents) == 0 {
		row("agents", "none; hosts of this system are sent this moon")
	}
	for i, a := range agents {
		value := a.System + "  " + termtext.CleanName(a.Path)
		if a.Error != "" {
			value = a.System + "  not sent: " + termtext.CleanName(a.Error)
		}
		row(map[bool]string{true: "agents"}[i == 0], value)
	}
	return w.Flush()
}
