package spec

import (
	"reflect"
	"slices"
	"time"
)

// ApkArgs are the arguments of apk. Once decoded, Name has each package on its own.
type ApkArgs struct {
	Name        []string      `arg:"name,pkg,names" doc:"The packages, a list or text with commas: nginx, nginx=1.24.0-r6, nginx@edge."`
	State       string        `arg:"state" default:"present" enum:"present|absent|latest|installed>present|removed>absent" doc:"present, absent, or latest: present in the newest version."`
	UpdateCache bool          `arg:"update_cache,update-cache" default:"false" doc:"Update the package lists first."`
	Upgrade     bool          `arg:"upgrade" default:"false" doc:"Upgrade every package of the machine."`
	Available   bool          `arg:"available" default:"false" doc:"With upgrade, replace packages that the repositories no longer have by those they have."`
	NoCache     bool          `arg:"no_cache" default:"false" doc:"Do not keep package lists on the machine."`
	Repository  []string      `arg:"repository" doc:"Repositories to use in this step, on top of the machine's."`
	LockTimeout time.Duration `arg:"lock_timeout" default:"60" doc:"How long to wait while another process holds the package manager's lock."`
}

var _ = declareAction(&Action{
	Name:     "apk",
	Aliases:  []string{"community.general.apk"},
	Doc:      "Installs, upgrades and removes packages of Alpine Linux.",
	Free:     "name",
	FreeList: "name",
	Process:  "*",
	Check:    true,
	Diff:     true,
	args:     reflect.TypeFor[ApkArgs](),
	Returns:  slices.Clone(packageReturns),
	Least:    "apk: {name: x}",
	Example: `- apk: {name: [nginx, curl]}
- apk: {name: nano, state: absent}
- apk: {upgrade: true}
`,
})

func (a *ApkArgs) validateArgs(given func(string) bool) []Problem {
	names, problems := packageNames(a.Name, packagePattern, "")
	a.Name = names
	if a.Upgrade && len(names) > 0 {
		problems = append(problems, Problem{
			"upgrade", "`upgrade` is for every package and does not go with `name`",
			"write `state: latest`",
		})
	}
	if a.Available && !a.Upgrade {
		problems = append(problems, Problem{"available", "`available` goes with `upgrade` only", ""})
	}
	problems = append(problems, optionWords(map[string][]string{"repository": a.Repository})...)
	return append(problems, wantsPackages("apk", "`name`, `upgrade` or `update_cache`", given("name") || a.Upgrade || a.UpdateCache)...)
}
