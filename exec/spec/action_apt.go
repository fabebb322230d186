package spec

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"moon/internal/pattern"
)

// AptArgs are the arguments of apt. Once decoded, Name has each package on its own.
type AptArgs struct {
	Name           []string      `arg:"name,package,pkg,names" doc:"The packages, a list or text with commas: curl, nginx=1.22.*, php8.2-*, libc6:i386, foo/bookworm-backports."`
	State          string        `arg:"state" default:"present" enum:"present|absent|latest|installed>present|removed>absent|fixed|build-dep" doc:"present, absent, or latest: present in the newest version; fixed: repair what an interrupted installation has left; build-dep: install what is needed to build them."`
	UpdateCache    bool          `arg:"update_cache,update-cache" default:"false" doc:"Update the package lists first."`
	CacheValidTime time.Duration `arg:"cache_valid_time,cache-valid-time" default:"0" doc:"Update them only if they are older than this. It implies update_cache."`
	Upgrade        string        `arg:"upgrade" default:"no" enum:"no|yes>safe|safe|full|dist>full|true>safe|false>no" doc:"Upgrade every package of the machine: safe removes none, full may."`
	Deb            string        `arg:"deb" doc:"A .deb file to install, or its address."`

	InstallRecommends *bool  `arg:"install_recommends,install-recommends" implied:"as apt is configured" doc:"Also install recommended packages."`
	DefaultRelease    string `arg:"default_release,default-release" doc:"The release to prefer, such as bookworm-backports."`
	OnlyUpgrade       bool   `arg:"only_upgrade" default:"false" doc:"With latest, upgrade only packages that are installed."`
	Purge             bool   `arg:"purge" default:"false" doc:"With absent, remove the configuration as well."`
	AutoRemove        bool   `arg:"autoremove" default:"false" doc:"Remove dependencies that are no longer needed."`
	AutoClean         bool   `arg:"autoclean" default:"false" doc:"Delete downloaded packages that are outdated."`
	Clean             bool   `arg:"clean" default:"false" doc:"Delete all downloaded packages."`
	DpkgOptions       string `arg:"dpkg_options" default:"force-confdef,force-confold" doc:"Options of dpkg, with commas. The default keeps configuration files that were changed."`

	AllowUnauthenticated bool `arg:"allow_unauthenticated,allow-unauthenticated" default:"false" doc:"Install packages that are not signed."`
	AllowDowngrade       bool `arg:"allow_downgrade,allow-downgrade,allow_downgrades,allow-downgrades" default:"false" doc:"Install older versions over newer ones."`
	AllowChangeHeld      bool `arg:"allow_change_held_packages" default:"false" doc:"Change packages that are held."`
	Force                bool `arg:"force" default:"false" doc:"Allow all three, and removing essential packages."`
	FailOnAutoremove     bool `arg:"fail_on_autoremove" default:"false" doc:"Fail if anything would be removed."`

	PolicyRcD     *int          `arg:"policy_rc_d" doc:"The exit code of policy-rc.d, which decides whether packages may start services; 101: do not start."`
	LockTimeout   time.Duration `arg:"lock_timeout" default:"60" doc:"How long to wait while another process holds the package manager's lock."`
	UpdateRetries int           `arg:"update_cache_retries" default:"5" doc:"How often to retry if the package lists cannot be updated."`
	UpdateDelay   time.Duration `arg:"update_cache_retry_max_delay" default:"12" doc:"The longest time between two attempts."`
	ForceAptGet   bool          `arg:"force_apt_get" default:"false" doc:"Accepted from playbooks written for Ansible; apt-get is always used."`
	ModuleDeps    bool          `arg:"auto_install_module_deps" default:"true" doc:"Accepted from playbooks written for Ansible; moon needs no extra modules."`
}

var _ = declareAction(&Action{
	Name:     "apt",
	Doc:      "Installs, upgrades and removes packages of Debian and related systems.",
	Free:     "name",
	FreeList: "name",
	Process:  "*",
	Check:    true,
	Diff:     true,
	args:     reflect.TypeFor[AptArgs](),
	Returns:  slices.Clone(packageReturns),
	Least:    "apt: {name: x}",
	Example: `- apt: {name: [hello, cowsay=3.03*], update_cache: true, cache_valid_time: 1h, install_recommends: false}
- apt: {name: sl, state: absent, purge: true}
`,
})

// aptPattern is a package with an architecture, and a version or a release. A name cannot end in a hyphen: apt would
// take that for the wish to remove it.
var aptPattern = pattern.New(`^[a-zA-Z0-9*?\[]([a-zA-Z0-9+.*?\[\]!^-]*[a-zA-Z0-9+.*?\]])?(:[a-z0-9-]+)?(=[a-zA-Z0-9.+:~*?-]+|/[a-zA-Z0-9._-]+)?$`)

func (a *AptArgs) validateArgs(given func(string) bool) []Problem {
	names, problems := packageNames(a.Name, aptPattern, "a file or an address of one goes to `deb`")
	a.Name = names
	add := func(field, message, hint string) { problems = append(problems, Problem{field, message, hint}) }
	// As in Ansible, cache_valid_time implies update_cache.
	if given("cache_valid_time") {
		a.UpdateCache = true
	}
	var ways []string
	for field, is := range map[string]bool{"name": len(names) > 0, "deb": a.Deb != "", "upgrade": a.Upgrade != "no"} {
		if is {
			ways = append(ways, "`"+field+"`")
		}
	}
	// A map has no order, and the message must have one.
	slices.Sort(ways)
	if len(ways) > 1 {
		add("", strings.Join(ways, " and ")+" exclude each other", "make several steps")
	}
	if a.Deb != "" && a.State != "present" {
		add("deb", "`deb` goes with `state: present` only", "to remove a package give its `name`")
	}
	// A name that begins with a hyphen would be an option of apt-get.
	if strings.HasPrefix(a.Deb, "-") {
		add("deb", "`deb` cannot begin with a hyphen", "write ./ in front")
	}
	if a.State == "build-dep" && len(names) == 0 {
		add("state", "`state: build-dep` needs `name`", "")
	}
	if strings.HasPrefix(a.DefaultRelease, "-") {
		add("default_release", "`default_release` cannot begin with a hyphen", "")
	}
	for option := range strings.SplitSeq(a.DpkgOptions, ",") {
		if !dpkgOption.MatchString(option) {
			add("dpkg_options", "`dpkg_options` has "+nameValue(option)+", which is not a dpkg option",
				"write it without the two hyphens, as in force-confnew")
		}
	}
	if a.PolicyRcD != nil && (*a.PolicyRcD < 0 || *a.PolicyRcD > 255) {
		add("policy_rc_d", "`policy_rc_d` must be an exit status between 0 and 255", "")
	}
	if a.UpdateRetries < 0 {
		add("update_cache_retries", "`update_cache_retries` must be 0 or more", "")
	}
	anything := given("name") || a.Deb != "" || a.Upgrade != "no" || a.UpdateCache || a.AutoRemove || a.AutoClean || a.Clean ||
		a.State == "fixed" || a.State == "build-dep"
	return append(problems, wantsPackages("apt", "`name`, `upgrade` or `update_cache`", anything)...)
}

var dpkgOption = pattern.New(`^[a-z][a-z0-9=/.-]*$|^$`)
