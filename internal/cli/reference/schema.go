package reference

import (
	"bytes"
	"encoding/json"

	"moon/internal/app"
	"moon/internal/report/schemas"
	"moon/plan/schema"
)

// Schema prints the JSON Schema of playbooks, or of what moon writes for programs.
type Schema struct {
	Of    string `arg:"" optional:"" enum:"playbook,event,plan,result" default:"playbook" help:"playbook (default); event: a line of moon run --output json; plan: moon plan --format json; result: moon show --format json."`
	Draft string `enum:"2020-12,draft-07" default:"2020-12" help:"The draft of JSON Schema: 2020-12 or draft-07; default 2020-12."`
}

// Help says how an editor finds the schema.
func (Schema) Help() string {
	return `Save the schema once, and name it on the first line of a playbook:

  moon schema > ~/.config/moon/playbook.schema.json

  # yaml-language-server: $schema=/home/ada/.config/moon/playbook.schema.json

Editors with yaml-language-server (VS Code, Neovim, Helix, Emacs, Zed) then complete, explain and check keys and actions while you type.

The other schemas are for programs that read what moon writes:

  moon schema event
  moon schema result --draft draft-07`
}

// Run prints it.
func (c *Schema) Run(call *app.Invocation) error {
	make := map[string]func() ([]byte, error){
		"playbook": schema.Playbook, "event": schemas.Events, "plan": schemas.Plan, "result": schemas.Result,
	}[c.Of]
	old := c.Draft == "draft-07"
	if old && c.Of == "playbook" { // it has an address of its own
		make = schema.Playbook07
	}
	doc, err := make()
	if err != nil {
		return err
	}
	if old && c.Of != "playbook" {
		if doc, err = rewrite(doc); err != nil {
			return err
		}
	}
	_, err = call.Out.Write(doc)
	return err
}

// rewrite writes a schema in draft-07.
func rewrite(doc []byte) ([]byte, error) {
	var v map[string]any
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(schema.ToDraft07(v))
	return b.Bytes(), err
}
