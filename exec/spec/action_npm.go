package spec

import (
	"reflect"
	"strings"
)

// NpmArgs are the arguments of npm. Once decoded, Program are the words that start npm.
type NpmArgs struct {
	Name          string `arg:"name" implied:"what package.json lists" doc:"The package."`
	Path          string `arg:"path" kind:"path" doc:"The directory of the project. Needed unless the package is global."`
	Version       string `arg:"version" doc:"The version of the package."`
	Global        bool   `arg:"global" default:"false" doc:"Install it for the whole machine."`
	State         string `arg:"state" default:"present" enum:"present|latest|absent" doc:"present: installed. latest: also updated. absent: not installed."`
	CI            bool   `arg:"ci" default:"false" doc:"Install exactly what package-lock.json lists, every time."`
	Production    bool   `arg:"production" default:"false" doc:"Without dependencies that only development needs."`
	IgnoreScripts bool   `arg:"ignore_scripts" default:"false" doc:"Do not run the scripts of packages."`
	UnsafePerm    bool   `arg:"unsafe_perm" default:"false" doc:"Run scripts as root instead of another user; newer versions of npm ignore it."`
	NoOptional    bool   `arg:"no_optional" default:"false" doc:"Without optional dependencies."`
	NoBinLinks    bool   `arg:"no_bin_links" default:"false" doc:"Create no links to programs of packages."`
	Force         bool   `arg:"force" default:"false" doc:"Install even if packages are in conflict."`
	Registry      string `arg:"registry" doc:"The registry to use."`
	Executable    string `arg:"executable" implied:"npm" doc:"The program npm, which may have arguments."`

	Program []string
}

var _ = declareAction(&Action{
	Name:    "npm",
	Aliases: []string{"community.general.npm"},
	Doc:     "Installs and removes packages of Node.js with npm.",
	Process: "*",
	Proxies: true,
	Check:   true,
	Diff:    true,
	args:    reflect.TypeFor[NpmArgs](),
	Returns: []Return{{"missing", "The packages that were not installed as they should be."}},
	Least:   "npm: {path: /nowhere}",
	Example: `- npm: {path: /srv/app, production: true}
- npm: {name: left, path: /srv/app, state: absent}
`,
})

func (a *NpmArgs) validateArgs(func(string) bool) []Problem {
	var problems []Problem
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	switch {
	case a.Path == "" && !a.Global:
		add("path", "`npm` needs `path`", "or `global: true`")
	case a.Name == "" && (a.State == "absent" || a.Version != ""):
		what := "version"
		if a.State == "absent" {
			what = "state: absent"
		}
		add("name", "`"+what+"` needs `name`", "")
	}
	for _, f := range []struct{ name, text string }{{"name", a.Name}, {"version", a.Version}, {"registry", a.Registry}} {
		if strings.HasPrefix(f.text, "-") || strings.ContainsAny(f.text, "\n") {
			add(f.name, "`"+f.name+"` cannot begin with a hyphen", "")
		}
	}
	a.Program = strings.Fields(a.Executable)
	if len(a.Program) == 0 {
		a.Program = []string{"npm"}
	}
	return problems
}
