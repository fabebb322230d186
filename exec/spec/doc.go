// Package spec declares every action: its fields with their types, defaults and documentation, what it returns, and
// what it can do. Validation, JSON Schema and the reference are made from these declarations.
//
// It is pure data and knows nothing of how an action runs; that is package exec. The argument structs and their tags
// are the one place where a field is described:
//
//	arg      name and aliases, "path,dest,name"
//	doc      one or two sentences
//	kind     where the Go type does not tell: path, paths, script, expression, conditions; source: a path or a URL;
//	         target: a path that plays leave as it is
//	default  the text that is decoded when the field is not given
//	implied  the same for documentation only: what its absence means depends on other fields
//	enum     allowed words, "a|b"; "a|b>c" reads b as c
//	need     yes: required
//	data     json: a list or map is written as JSON
package spec
