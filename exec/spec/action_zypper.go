package spec

import (
	"reflect"
	"slices"
	"time"
)

// ZypperArgs are the arguments of zypper. Once decoded, Name has each package on its own.
type ZypperArgs struct {
	Name              []string      `arg:"name,pkg,names" doc:"The packages, a list or text with commas: nginx, nginx>=1.20, a file or its address; * for all."`
	State             string        `arg:"state" default:"present" enum:"present|absent|latest|installed>present|removed>absent|dist-upgrade" doc:"present, absent, or latest: present in the newest version; dist-upgrade: with name *, upgrade the whole machine to the state of the repositories."`
	UpdateCache       bool          `arg:"update_cache,update-cache,refresh" default:"false" doc:"Update the package lists first."`
	Type              string        `arg:"type" default:"package" enum:"package|patch|pattern|product|srcpackage|application" doc:"The type of what the names refer to."`
	DisableRecommends bool          `arg:"disable_recommends" default:"true" doc:"Do not install recommended packages."`
	DisableGPGCheck   bool          `arg:"disable_gpg_check" default:"false" doc:"Install packages that are not signed."`
	AutoImportKeys    bool          `arg:"auto_import_keys" default:"false" doc:"Trust keys of repositories that are new."`
	Force             bool          `arg:"force" default:"false" doc:"Also reinstall installed packages."`
	ForceResolution   bool          `arg:"force_resolution" default:"false" doc:"Let zypper resolve conflicts by itself."`
	OldPackage        bool          `arg:"oldpackage" default:"false" doc:"Install older versions over newer ones."`
	ReplaceFiles      bool          `arg:"replacefiles" default:"false" doc:"Install packages even if they replace files of other packages."`
	VendorChange      bool          `arg:"allow_vendor_change" default:"false" doc:"With dist-upgrade, take packages of other vendors."`
	CleanDeps         bool          `arg:"clean_deps" default:"false" doc:"With absent, also remove dependencies that are no longer needed."`
	ExtraArgs         string        `arg:"extra_args" doc:"More options for installing and removing."`
	LockTimeout       time.Duration `arg:"lock_timeout" default:"60" doc:"How long to wait while another process holds the package manager's lock."`

	Extra []string // ExtraArgs, in words
}

var _ = declareAction(&Action{
	Name:     "zypper",
	Aliases:  []string{"community.general.zypper"},
	Doc:      "Installs, upgrades and removes packages of SUSE and openSUSE.",
	Free:     "name",
	FreeList: "name",
	Process:  "*",
	Check:    true,
	Diff:     true,
	args:     reflect.TypeFor[ZypperArgs](),
	Returns:  slices.Clone(packageReturns),
	Least:    "zypper: {name: x}",
	Example: `- zypper: {name: [nginx, curl]}
- zypper: {name: nano, state: absent, clean_deps: true}
- zypper: {name: "*", state: latest}
`,
})

func (a *ZypperArgs) validateArgs(given func(string) bool) []Problem {
	names, problems := packageNames(a.Name, packagePattern, "")
	a.Name = names
	all := slices.Contains(names, "*")
	if a.State == "dist-upgrade" && !all {
		problems = append(problems, Problem{"state", "`state: dist-upgrade` goes with `name: \"*\"` only", ""})
	}
	if a.State == "absent" && all {
		problems = append(problems, Problem{"name", "`name: \"*\"` with `state: absent` would remove everything", "name the packages"})
	}
	var wrong []Problem
	a.Extra, wrong = extraWords("extra_args", a.ExtraArgs)
	problems = append(problems, wrong...)
	return append(problems, wantsPackages("zypper", "`name` or `update_cache`", given("name") || a.UpdateCache)...)
}
