package cli

import (
	"moon/internal/app"
	"moon/plan/schema"
)

type schemaCmd struct{}

// Help says how an editor finds the schema.
func (schemaCmd) Help() string {
	return `Save the schema once, and name it on the first line of a playbook:

  moon schema > ~/.config/moon/playbook.schema.json

  # yaml-language-server: $schema=/home/ada/.config/moon/playbook.schema.json

Editors with yaml-language-server (VS Code, Neovim, Helix, Emacs, Zed) then complete, explain and check keys and actions while you type.`
}

func (schemaCmd) Run(call *app.Invocation) error {
	doc, err := schema.Playbook()
	if err != nil {
		return err
	}
	return printTo(call.Out, string(doc))
}
