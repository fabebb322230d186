package cli

import (
	"moon/internal/app"
	"moon/plan/schema"
)

type schemaCmd struct{}

// Help says how an editor finds the schema.
func (schemaCmd) Help() string {
	return `Save it once, and name it in the first line of a playbook:

  moon schema > ~/.config/moon/playbook.schema.json

  # yaml-language-server: $schema=/home/ada/.config/moon/playbook.schema.json

Editors with yaml-language-server (VS Code, Neovim, Helix, Emacs, Zed) then complete, describe and check what is typed.`
}

func (schemaCmd) Run(call *app.Invocation) error {
	doc, err := schema.Playbook()
	if err != nil {
		return err
	}
	return printTo(call.Out, string(doc))
}
