package spec

import (
	"reflect"
	"slices"
)

// PackageArgs are the arguments of package. Once decoded, Name has each package on its own.
type PackageArgs struct {
	Name        []string `arg:"name,names,pkg" doc:"The packages, a list or text with commas, as the machine's package manager calls them."`
	State       string   `arg:"state" default:"present" enum:"present|absent|latest|installed>present|removed>absent" doc:"present, absent, or latest: present in the newest version."`
	UpdateCache bool     `arg:"update_cache,update-cache" default:"false" doc:"Update the package lists first."`
	Upgrade     bool     `arg:"upgrade" default:"false" doc:"Upgrade every package of the machine."`
	Use         string   `arg:"use,manager" default:"auto" enum:"auto|apt|dnf|dnf5>dnf|yum|pacman|zypper|apk|homebrew|brew>homebrew" doc:"The package manager; auto: the machine's own."`

	PackageOptions
}

// PackageOptions go to the package manager as they are, which refuses those it does not know.
type PackageOptions struct {
	CacheValidTime    any `arg:"cache_valid_time,cache-valid-time" doc:"As in apt."`
	InstallRecommends any `arg:"install_recommends,install-recommends" doc:"As in apt."`
	DefaultRelease    any `arg:"default_release,default-release" doc:"As in apt."`
	OnlyUpgrade       any `arg:"only_upgrade" doc:"As in apt."`
	Purge             any `arg:"purge" doc:"As in apt."`
	AutoRemove        any `arg:"autoremove" doc:"As in apt and dnf."`
	AllowDowngrade    any `arg:"allow_downgrade,allow-downgrade,allow_downgrades,allow-downgrades" doc:"As in apt and dnf."`
	AllowUnsigned     any `arg:"allow_unauthenticated,allow-unauthenticated" doc:"As in apt."`
	DpkgOptions       any `arg:"dpkg_options" doc:"As in apt."`
	LockTimeout       any `arg:"lock_timeout" doc:"As in apt and dnf."`
	Force             any `arg:"force" doc:"As in apt."`
	List              any `arg:"list" doc:"As in dnf."`
	EnableRepo        any `arg:"enablerepo" doc:"As in dnf."`
	DisableRepo       any `arg:"disablerepo" doc:"As in dnf."`
	DisableGPGCheck   any `arg:"disable_gpg_check" doc:"As in dnf."`
}

// Given are the options that are given, by name.
func (o PackageOptions) Given() map[string]any {
	given := map[string]any{}
	v := reflect.ValueOf(o)
	for _, f := range fieldsOf(v.Type()) {
		if value := v.FieldByIndex(f.index).Interface(); value != nil {
			given[f.Name] = value
		}
	}
	return given
}

var _ = declareAction(&Action{
	Name:     "package",
	Doc:      "Installs, upgrades and removes packages with the package manager that the machine has.",
	Free:     "name",
	FreeList: "name",
	Process:  "*",
	Check:    true,
	Diff:     true,
	args:     reflect.TypeFor[PackageArgs](),
	Returns:  slices.Clone(packageReturns),
	Least:    "package: {name: x}",
	Example: `- package: {name: [hello, cowsay], update_cache: true}
- package: {name: sl, state: absent}
`,
})

func (a *PackageArgs) validateArgs(given func(string) bool) []Problem {
	names, problems := packageNames(a.Name, packagePattern, "")
	a.Name = names
	if a.Upgrade && len(names) > 0 {
		problems = append(problems, Problem{
			"upgrade", "`upgrade` is for every package and does not go with `name`",
			"write `state: latest`",
		})
	}
	return append(problems, wantsPackages("package", "`name`, `upgrade` or `update_cache`",
		given("name") || given("list") || a.Upgrade || a.UpdateCache)...)
}
