package spec

import (
	"reflect"
	"strings"
)

// AddHostArgs are the arguments of add_host. Once decoded, Groups are the single names.
type AddHostArgs struct {
	Values map[string]any
	Name   string   `arg:"name,hostname,host" need:"yes" doc:"The host. :PORT at the end sets its port."`
	Groups []string `arg:"groups,groupname,group" doc:"Groups to put it in, as a list or text with commas. Missing groups are created."`
}

var _ = declareAction(&Action{
	Name: "add_host",
	Doc:  "Adds a host to the inventory for the rest of the run. All other keys are variables of that host.",
	Open: true,
	args: reflect.TypeFor[AddHostArgs](),
	Returns: []Return{
		{"add_host", "What was added: host_name, groups and host_vars."},
	},
	Check:   true,
	Inward:  true,
	Changes: true,
	Least:   "add_host: {name: x}",
	Example: `- add_host: {name: web3.example.com, groups: [web, new], http_port: 8080}
`,
})

func (a *AddHostArgs) validateArgs(func(string) bool) []Problem {
	a.Groups = commaNames(a.Groups)
	if strings.TrimSpace(a.Name) == "" {
		return []Problem{{"name", "`name` is empty", ""}}
	}
	return nil
}

// commaNames are the names in texts that may have several, with commas between.
func commaNames(texts []string) []string {
	var names []string
	for _, text := range texts {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
