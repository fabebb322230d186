package spec

import (
	"reflect"
	"slices"
)

// DnfArgs are the arguments of dnf. Once decoded, Name has each package on its own.
type DnfArgs struct {
	Name            []string `arg:"name,pkg,names" doc:"The packages, a list or text with commas: nginx, nginx-1.20*, \"nginx >= 1.20\", @development, a file or its address; * for all."`
	State           string   `arg:"state" default:"present" enum:"present|absent|latest|installed>present|removed>absent" doc:"present, absent, or latest: present in the newest version."`
	List            string   `arg:"list" doc:"Change nothing, and list packages: installed, available, updates, or those of a name; or repos, the repositories in use."`
	UpdateCache     bool     `arg:"update_cache,update-cache,expire-cache" default:"false" doc:"Update the package lists first."`
	UpdateOnly      bool     `arg:"update_only" default:"false" doc:"With latest, upgrade only packages that are installed."`
	AutoRemove      bool     `arg:"autoremove" default:"false" doc:"Remove dependencies that are no longer needed."`
	EnableRepo      []string `arg:"enablerepo" doc:"Repositories to use in this step."`
	DisableRepo     []string `arg:"disablerepo" doc:"Repositories not to use in this step."`
	EnablePlug      []string `arg:"enable_plugin" doc:"Plugins of dnf to use in this step."`
	DisablePlug     []string `arg:"disable_plugin" doc:"Plugins of dnf not to use in this step; * for all."`
	Exclude         []string `arg:"exclude" doc:"Packages not to touch."`
	NoGPGCheck      bool     `arg:"disable_gpg_check" default:"false" doc:"Install packages that are not signed."`
	Downgrade       bool     `arg:"allow_downgrade" default:"false" doc:"Install older versions over newer ones."`
	Erasing         bool     `arg:"allowerasing" default:"false" doc:"Remove conflicting packages. Not with yum."`
	NoBest          bool     `arg:"nobest" default:"false" doc:"Take an older version if the newest cannot be installed. Not with yum."`
	SkipBroken      bool     `arg:"skip_broken" default:"false" doc:"Skip packages that cannot be installed."`
	WeakDeps        *bool    `arg:"install_weak_deps" implied:"as dnf is configured" doc:"Also install recommended packages."`
	Security        bool     `arg:"security" default:"false" doc:"With latest, only security upgrades."`
	Bugfix          bool     `arg:"bugfix" default:"false" doc:"With latest, only upgrades that fix bugs."`
	ReleaseVer      string   `arg:"releasever" doc:"The release to take packages from."`
	CacheOnly       bool     `arg:"cacheonly" default:"false" doc:"Use only what is in the cache, and fetch nothing."`
	DisableExcludes string   `arg:"disable_excludes" doc:"Whose exclude does not count in this step: all, main, or that of a repository."`
	DownloadOnly    bool     `arg:"download_only" default:"false" doc:"Download the packages, and install none."`
	DownloadDir     string   `arg:"download_dir" kind:"path" implied:"the cache of dnf" doc:"Where to download them, with download_only."`
	SSLVerify       bool     `arg:"sslverify,validate_certs" default:"true" doc:"Check the certificates of repositories that do not say so themselves."`
	ConfFile        string   `arg:"conf_file" kind:"path" doc:"The configuration file to use."`
	Backend         string   `arg:"use_backend,use" default:"auto" enum:"auto|dnf|dnf4>dnf|dnf5|yum|yum3>yum|yum4>dnf" doc:"The program; auto: dnf, or yum if dnf is not installed."`
	LockTimeout     string   `arg:"lock_timeout" doc:"Refused: dnf itself waits for other processes."`
}

var _ = declareAction(&Action{
	Name:     "dnf",
	Aliases:  []string{"yum", "dnf5"},
	Doc:      "Installs, upgrades and removes packages of Fedora, Red Hat Enterprise Linux and related systems, with dnf or yum.",
	Free:     "name",
	FreeList: "name",
	Process:  "*",
	Check:    true,
	Diff:     true,
	args:     reflect.TypeFor[DnfArgs](),
	Returns: append(slices.Clone(packageReturns),
		Return{"results", "What list asks for. Packages have name, epoch, version, release, arch, repo, envra and yumstate; repositories repoid and state."}),
	Least: "dnf: {name: x}",
	Example: `- dnf: {name: [nginx, curl], enablerepo: extras}
- dnf: {name: sendmail, state: absent}
- dnf: {name: "*", state: latest}
- dnf: {list: nginx}
  register: versions
`,
})

func (a *DnfArgs) validateArgs(given func(string) bool) []Problem {
	names, problems := packageNames(a.Name, packagePattern, "")
	a.Name = names
	// dnf waits for its lock by itself, for as long as it takes.
	if given("lock_timeout") {
		problems = append(problems, Problem{
			"lock_timeout", "`lock_timeout` is not for `dnf`, which waits for others by itself",
			"give the step a `timeout`",
		})
	}
	if a.State != "latest" && (a.Security || a.Bugfix) {
		problems = append(problems, Problem{"state", "`security` and `bugfix` go with `state: latest` only", ""})
	}
	if a.State == "absent" && slices.Contains(names, "*") {
		problems = append(problems, Problem{"name", "`name: \"*\"` with `state: absent` would remove everything", "name the packages"})
	}
	if a.DownloadOnly && (a.State == "absent" || a.AutoRemove) {
		problems = append(problems, Problem{"download_only", "`download_only` does not go with a removal", ""})
	}
	problems = append(problems, optionWords(map[string][]string{
		"enablerepo": a.EnableRepo, "disablerepo": a.DisableRepo, "enable_plugin": a.EnablePlug, "disable_plugin": a.DisablePlug,
		"exclude": a.Exclude, "releasever": {a.ReleaseVer}, "disable_excludes": {a.DisableExcludes},
	})...)
	switch {
	case a.List == "":
	case given("name"):
		problems = append(problems, Problem{"list", "`list` does not go with `name`", "give one of them"})
	case !packagePattern.MatchString(a.List):
		problems = append(problems, Problem{"list", "`list` has " + nameValue(a.List) + ", which is not a package name", ""})
	}
	return append(problems, wantsPackages("dnf", "`name`, `list`, `autoremove` or `update_cache`",
		given("name") || a.List != "" || a.UpdateCache || a.AutoRemove)...)
}
