package spec

import (
	"reflect"
	"slices"
)

// HomebrewArgs are the arguments of homebrew. Once decoded, Name has each formula on its own.
type HomebrewArgs struct {
	Name           []string `arg:"name,formula,package,pkg,names" doc:"The formulae, a list or text with commas."`
	State          string   `arg:"state" default:"present" enum:"present|absent|latest|installed>present|removed>absent|uninstalled>absent|upgraded>latest" doc:"present, absent, or latest: present in the newest version."`
	UpdateCache    bool     `arg:"update_homebrew,update-brew,update_cache" default:"false" doc:"Update the lists of formulae first."`
	UpgradeAll     bool     `arg:"upgrade_all,upgrade" default:"false" doc:"Upgrade every formula of the machine."`
	InstallOptions []string `arg:"install_options,options" doc:"Options for installing, without the two hyphens."`
	UpgradeOptions []string `arg:"upgrade_options" doc:"Options for upgrading, without the two hyphens."`
}

var _ = declareAction(&Action{
	Name:     "homebrew",
	Aliases:  []string{"brew", "community.general.homebrew"},
	Doc:      "Installs, upgrades and removes formulae with Homebrew, which must not run as root.",
	Free:     "name",
	FreeList: "name",
	Process:  "*",
	Check:    true,
	Diff:     true,
	args:     reflect.TypeFor[HomebrewArgs](),
	Returns:  slices.Clone(packageReturns),
	Least:    "homebrew: {name: x}",
	Example: `- homebrew: {name: [jq, wget]}
- homebrew: {name: nano, state: absent}
`,
})

func (a *HomebrewArgs) validateArgs(given func(string) bool) []Problem {
	names, problems := packageNames(a.Name, packagePattern, "")
	a.Name = names
	if a.UpgradeAll && len(names) > 0 {
		problems = append(problems, Problem{
			"upgrade_all", "`upgrade_all` is for every formula and does not go with `name`",
			"write `state: latest`",
		})
	}
	problems = append(problems, optionWords(map[string][]string{
		"install_options": a.InstallOptions,
		"upgrade_options": a.UpgradeOptions,
	})...)
	return append(problems, wantsPackages("homebrew", "`name`, `upgrade_all` or `update_homebrew`",
		given("name") || a.UpgradeAll || a.UpdateCache)...)
}
