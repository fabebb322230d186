package reference

import (
	"moon/internal/app"
	"moon/plan/schema"
)

// Schema prints the JSON Schema of playbooks.
type Schema struct{}

// Help says how an editor finds the schema.
func (Schema) Help() string {
	return `Save the schema once, and name it on the first line of a playbook:

  moon schema > ~/.config/moon/playbook.schema.json

  # yaml-language-server: $schema=/home/ada/.config/moon/playbook.schema.json

Editors with yaml-language-server (VS Code, Neovim, Helix, Emacs, Zed) then complete, explain and check keys and actions while you type.`
}

// Run prints it.
func (Schema) Run(call *app.Invocation) error {
	doc, err := schema.Playbook()
	if err != nil {
		return err
	}
	_, err = call.Out.Write(doc)
	return err
}
