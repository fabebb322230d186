package cli

import (
	"os"

	"github.com/alecthomas/kong"

	"moon/internal/cli/settings"
)

// configCmd lists the settings. It has the flags of all commands that have some, to say what holds with them.
type configCmd struct {
	playbookFlags
	settings.Listing
	runFlags      `group:"run"`
	becomeFlags   `group:"passwords"`
	headlessFlags `group:"output"`
	screenFlags   `group:"screen"`
	uiFlags       `group:"screen"`
}

// Help says where settings are.
func (configCmd) Help() string {
	return `Lists what each setting is for a playbook, and whether a flag, the environment, the project's .moon.yaml, ansible.cfg or your config.yaml
says so. docs/config.md has all settings.

  moon config
  moon config site.yml --forks 4
  moon config forks
  moon config --path`
}

func (c *configCmd) Run(ctx *kong.Context, r *settings.Resolver) error {
	if _, err := os.Stat(c.Playbook); err != nil && c.Playbook != "" && c.Playbook != "-" {
		c.Listing.Only = c.Playbook
	}
	return r.List(ctx, c.Listing)
}
