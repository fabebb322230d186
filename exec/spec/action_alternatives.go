package spec

import (
	"fmt"
	"reflect"
	"strings"

	"moon/internal/pattern"
)

// AlternativesArgs are the arguments of alternatives. Once decoded, Slaves are the subcommands.
type AlternativesArgs struct {
	Name        string `arg:"name" need:"yes" doc:"The generic name, as editor."`
	Path        string `arg:"path" kind:"path" need:"yes" doc:"The program that provides it."`
	Link        string `arg:"link" kind:"path" implied:"the link there is" doc:"The link for the generic name, as /usr/bin/editor. Needed for a name that does not exist yet."`
	Priority    *int   `arg:"priority" implied:"the priority it has, or 50" doc:"The priority: in automatic mode the highest is used."`
	State       string `arg:"state" default:"selected" enum:"present|selected|auto|absent" doc:"present: it exists. selected: it exists and is used. auto: it exists, and the one with the highest priority is used. absent: it does not exist."`
	Subcommands any    `arg:"subcommands,slaves" implied:"those it has" doc:"Links that follow this one: a list of maps with name, path and link."`

	Slaves []Subcommand
}

// Subcommand is a link that follows another.
type Subcommand struct{ Name, Path, Link string }

var _ = declareAction(&Action{
	Name:    "alternatives",
	Aliases: []string{"community.general.alternatives"},
	Doc:     "Chooses which of several programs a generic name like editor means, with update-alternatives.",
	Process: "*",
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[AlternativesArgs](),
	Returns: []Return{{"msg", "What was done; empty if nothing."}},
	Least:   "alternatives: {name: x, path: /nowhere/x}",
	Example: `- alternatives: {name: pager, path: /opt/app/pager, link: /usr/bin/pager, priority: 10}
- alternatives:
    name: app
    path: /opt/app/2/app
    link: /usr/local/bin/app
    state: present
    subcommands:
      - {name: appctl, path: /opt/app/2/appctl, link: /usr/local/bin/appctl}
`,
})

var alternativeName = pattern.New(`^[A-Za-z0-9][^/\s]*$`)

func (a *AlternativesArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	if !alternativeName.MatchString(a.Name) {
		problems = append(problems, Problem{"name", "`name` must be a name like editor, found " + nameValue(a.Name), ""})
	}
	if a.Subcommands == nil {
		return problems
	}
	list, ok := a.Subcommands.([]any)
	if !ok {
		return append(problems, Problem{"subcommands", "`subcommands` must be a list of maps with name, path and link", ""})
	}
	a.Slaves = []Subcommand{}
	for i, item := range list {
		one, ok := item.(map[string]any)
		var s Subcommand
		for key, to := range map[string]*string{"name": &s.Name, "path": &s.Path, "link": &s.Link} {
			text, is := asText(one[key])
			ok = ok && is && (key == "name" || strings.HasPrefix(text, "/"))
			*to = text
		}
		if !ok || len(one) != 3 {
			problems = append(problems, Problem{
				"subcommands", fmt.Sprintf("item %d of `subcommands` must be a map with name, path and link, the latter two absolute", i+1), "",
			})
		}
		a.Slaves = append(a.Slaves, s)
	}
	return problems
}
