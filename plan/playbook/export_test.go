package playbook

// What the parser knows, for the test that everything is described.
var (
	DirectiveNames   = directives
	DocumentKeyNames = documentKeys
)
