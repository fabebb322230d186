package spec

import (
	"reflect"
	"slices"
	"time"
)

// PacmanArgs are the arguments of pacman. Once decoded, Name has each package on its own.
type PacmanArgs struct {
	Name         []string      `arg:"name,package,pkg,names" doc:"The packages, a list or text with commas; groups, files and addresses of files, too."`
	State        string        `arg:"state" default:"present" enum:"present|absent|latest|installed>present|removed>absent" doc:"present, absent, or latest: present in the newest version."`
	UpdateCache  bool          `arg:"update_cache,update-cache" default:"false" doc:"Update the package lists first."`
	Upgrade      bool          `arg:"upgrade" default:"false" doc:"Upgrade every package of the machine."`
	Force        bool          `arg:"force" default:"false" doc:"With absent, remove packages that others need; with update_cache, also update lists that are up to date."`
	RemoveNoSave bool          `arg:"remove_nosave" default:"false" doc:"With absent, remove the configuration as well."`
	ExtraArgs    string        `arg:"extra_args" doc:"More options for installing and removing."`
	LockTimeout  time.Duration `arg:"lock_timeout" default:"60" doc:"How long to wait while another process holds the package manager's lock."`

	Extra []string // ExtraArgs, in words
}

var _ = declareAction(&Action{
	Name:     "pacman",
	Aliases:  []string{"community.general.pacman"},
	Doc:      "Installs, upgrades and removes packages of Arch Linux and related systems.",
	Free:     "name",
	FreeList: "name",
	Process:  "*",
	Check:    true,
	Diff:     true,
	args:     reflect.TypeFor[PacmanArgs](),
	Returns:  slices.Clone(packageReturns),
	Least:    "pacman: {name: x}",
	Example: `- pacman: {name: [nginx, curl]}
- pacman: {name: nano, state: absent, extra_args: --recursive}
- pacman: {upgrade: true}
`,
})

func (a *PacmanArgs) validateArgs(given func(string) bool) []Problem {
	names, problems := packageNames(a.Name, packagePattern, "")
	a.Name = names
	if a.Upgrade && len(names) > 0 {
		problems = append(problems, Problem{
			"upgrade", "`upgrade` is for every package and does not go with `name`",
			"write `state: latest`",
		})
	}
	var wrong []Problem
	a.Extra, wrong = extraWords("extra_args", a.ExtraArgs)
	problems = append(problems, wrong...)
	return append(problems, wantsPackages("pacman", "`name`, `upgrade` or `update_cache`", given("name") || a.Upgrade || a.UpdateCache)...)
}
