package action_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fault"
)

// Recorded from dnf 4.14 with repositories made for it.
const (
	dnfInstall = `Dependencies resolved.
========================================================================================
 Package                                                          Arch    Version
                                                                                Repo
                                                                                    Size
========================================================================================
Installing:
 a-very-long-package-name-that-will-not-fit-into-eighty-columns   noarch  1.0-1 r  5.5 k
 alpha                                                            noarch  1.0-1 r  5.4 k
Installing dependencies:
 beta
                                                                  noarch  1:1.0-1
                                                                                r  5.4 k

Transaction Summary
========================================================================================
Install  3 Packages

Total size: 16 k
Operation aborted.
`
	dnfRemove = `Dependencies resolved.
================================================================================
 Package           Architecture       Version              Repository      Size
================================================================================
Removing:
 beta              noarch             1.0-1                @r               0  
Removing dependent packages:
 alpha             noarch             1.0-1                @r               0  

Transaction Summary
================================================================================
Remove  2 Packages

Operation aborted.
`
	dnfUpgrade = `Last metadata expiration check: 0:00:01 ago on Sat Nov 21 20:32:21 2026.
Dependencies resolved.
================================================================================
 Package            Architecture        Version            Repository      Size
================================================================================
Upgrading:
 alpha              noarch              2.0-1              r              5.4 k
Skipping packages with conflicts:
 gamma              noarch              2.0-1              r              5.4 k

Transaction Summary
================================================================================
Upgrade  1 Package

Operation aborted.
`
	// As dnf 5 has it.
	dnf5Downgrade = `Updating and loading repositories:
Repositories loaded.
Package         Arch   Version       Repository      Size
Downgrading:
 alpha          noarch 1.0-1         r            0.0   B
   replacing alpha noarch 2.0-1      r            0.0   B

Transaction Summary:
 Downgrading:       1 package

Operation aborted by the user.
`
	dnfNothing = "Dependencies resolved.\nNothing to do.\nComplete!\n"

	zypperInstall = `<?xml version='1.0'?>
<stream>
<message type="info">Loading repository data...</message>
<install-summary download-size="11010" space-usage-diff="0" packages-to-change="2">
<to-install>
<solvable type="package" name="alpha" edition="1.0-1" arch="noarch" summary="x">
<description>x</description></solvable>
<solvable type="package" name="beta" edition="1.0-1" arch="noarch" summary="x">
<description>x</description></solvable>
</to-install>
</install-summary>
<prompt id="0"><text>Continue?</text></prompt>
</stream>
`
	zypperUpgrade = `<?xml version='1.0'?>
<stream>
<install-summary download-size="5513" space-usage-diff="0" packages-to-change="1">
<to-upgrade>
<solvable type="package" name="alpha" edition="2.0-1" arch="noarch" edition-old="1.0-1" arch-old="noarch" summary="x">
<description>x</description></solvable>
</to-upgrade>
</install-summary>
</stream>
`
	zypperUnknown = `<?xml version='1.0'?>
<stream>
<message type="info">&apos;nosuch&apos; not found in package names. Trying capabilities.</message>
<message type="error">No provider of &apos;nosuch&apos; found.</message>
</stream>
`
	brewInfo = `{"formulae": [
{"name": "jq", "full_name": "jq", "versions": {"stable": "1.7.1", "head": "HEAD"}, "installed": [], "outdated": false, "pinned": false},
{"name": "wget", "full_name": "wget", "versions": {"stable": "1.25.0"}, "installed": [{"version": "1.24.5"}], "outdated": true, "pinned": false}
], "casks": []}`
)

const (
	rpmAll   = `rpm -qa --qf %{NAME}.%{ARCH} %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n`
	rpmAlpha = "rpm -q --whatprovides -- alpha"
	dpkgAll  = `dpkg-query --show --showformat=${Package}\t${Architecture}\t${db:Status-Abbrev}\t${Version}\t${Provides}\n`
	aptCall  = "apt-get -y -q -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=60 "
	aptSim   = "-s -o Dir::Log::Planner= "
	zypp     = "zypper --non-interactive "
	apkCall  = "apk --no-progress --wait 60 "
)

func TestPackages(t *testing.T) {
	none := said{rpmAlpha, "no package provides alpha\n", "", 1}
	noneNamed := said{"rpm -q -- alpha", "package alpha is not installed\n", "", 1}
	there := said{rpmAlpha, "alpha-1.0-1.noarch\n", "", 0}
	all := said{rpmAll, "alpha.noarch 1.0-1\ngamma.noarch 1.0-1\n", "", 0}
	tests := []struct {
		name    string
		action  string
		in      exectest.Args
		answers []said
		told    string // the calls that change something
		summary string
		text    string
		err     string
	}{
		{
			"dnf installs", "dnf",
			exectest.Args{"name": "alpha,a-very-long*", "enablerepo": "extras", "install_weak_deps": false, "disable_plugin": "*", "enable_plugin": []any{"versionlock"}},
			[]said{
				all, none, noneNamed,
				{"rpm -qa -- a-very-long*", "", "", 0},
				{"dnf --enablerepo=extras --disableplugin=* --enableplugin=versionlock --setopt=install_weak_deps=False --assumeno install alpha a-very-long*", dnfInstall, "", 1},
				{"dnf --enablerepo=extras --disableplugin=* --enableplugin=versionlock --setopt=install_weak_deps=False -y install alpha a-very-long*", "Complete!\n", "", 0},
			},
			"dnf --enablerepo=extras --disableplugin=* --enableplugin=versionlock --setopt=install_weak_deps=False -y install alpha a-very-long*",
			"install a-very-long-package-name-that-will-not-fit-into-eighty-columns 1.0-1, alpha 1.0-1, with 1 other package",
			"+ a-very-long-package-name-that-will-not-fit-into-eighty-columns 1.0-1\n+ alpha 1.0-1\n+ beta 1:1.0-1\n", "",
		},
		{
			"dnf downloads only", "dnf",
			exectest.Args{"name": "alpha,a-very-long*", "download_only": true, "download_dir": "/srv/rpms", "cacheonly": true, "disable_excludes": "all", "sslverify": false},
			[]said{
				all, none, noneNamed,
				{"rpm -qa -- a-very-long*", "", "", 0},
				{"dnf --cacheonly --disableexcludes=all --downloadonly --downloaddir=/srv/rpms --setopt=sslverify=False --assumeno install alpha a-very-long*", dnfInstall, "", 1},
				{"dnf --cacheonly --disableexcludes=all --downloadonly --downloaddir=/srv/rpms --setopt=sslverify=False -y install alpha a-very-long*", "Complete!\n", "", 0},
			},
			"dnf --cacheonly --disableexcludes=all --downloadonly --downloaddir=/srv/rpms --setopt=sslverify=False -y install alpha a-very-long*",
			"download a-very-long-package-name-that-will-not-fit-into-eighty-columns, alpha, beta", "", "",
		},
		{"dnf has it", "dnf", exectest.Args{"name": "alpha"}, []said{all, there}, "", "", "", ""},
		{
			"dnf removes", "dnf",
			exectest.Args{"name": "beta", "state": "absent"},
			[]said{all, {"dnf --assumeno remove beta", dnfRemove, "", 1}, {"dnf -y remove beta", "", "", 0}},
			"dnf -y remove beta", "remove beta, with 1 other package", "- alpha 1.0-1\n- beta 1.0-1\n", "",
		},
		{
			"dnf has nothing to remove", "yum",
			exectest.Args{"name": "nosuch", "state": "removed"},
			[]said{all, {"dnf --assumeno remove nosuch", "No match for argument: nosuch\nNo packages marked for removal.\n" + dnfNothing, "", 0}},
			"", "", "", "",
		},
		{
			"dnf upgrades", "dnf",
			exectest.Args{"name": "alpha", "state": "latest"},
			[]said{all, there, {"dnf --assumeno upgrade alpha", dnfUpgrade, "", 1}, {"dnf -y upgrade alpha", "", "", 0}},
			"dnf -y upgrade alpha", "upgrade alpha 1.0-1 → 2.0-1", "- alpha 1.0-1\n+ alpha 2.0-1\n", "",
		},
		{
			"dnf upgrades all", "dnf",
			exectest.Args{"name": "*", "state": "latest", "security": true, "exclude": []any{"kernel*"}},
			[]said{all, {"dnf --exclude=kernel* --assumeno --security upgrade", dnfUpgrade, "", 1}, {"dnf --exclude=kernel* -y --security upgrade", "", "", 0}},
			"dnf --exclude=kernel* -y --security upgrade", "upgrade 1 package", "- alpha 1.0-1\n+ alpha 2.0-1\n", "",
		},
		{
			"dnf 5 downgrades", "dnf5",
			exectest.Args{"name": "alpha-1.0", "allow_downgrade": true, "use_backend": "dnf5", "disable_plugin": "x"},
			[]said{
				{rpmAll, "alpha.noarch 2.0-1\n", "", 0},
				{"rpm -q --whatprovides -- alpha-1.0", "", "", 1},
				{"rpm -q -- alpha-1.0", "", "", 1},
				{"dnf5 --disable-plugin=x --assumeno install alpha-1.0", dnf5Downgrade, "", 1},
				{"dnf5 --disable-plugin=x -y install alpha-1.0", "", "", 0},
			},
			"dnf5 --disable-plugin=x -y install alpha-1.0", "downgrade alpha 2.0-1 → 1.0-1", "- alpha 2.0-1\n+ alpha 1.0-1\n", "",
		},
		{
			"dnf does not know it", "dnf",
			exectest.Args{"name": "nosuch"},
			[]said{
				all,
				{"rpm -q --whatprovides -- nosuch", "", "", 1},
				{"rpm -q -- nosuch", "", "", 1},
				{"dnf --assumeno install nosuch", "No match for argument: nosuch\n", "Error: Unable to find a match: nosuch\n", 1},
			},
			"", "", "", "there is no package nosuch; update_cache: true fetches newer lists",
		},
		{
			"yum, where there is no dnf", "package",
			exectest.Args{"name": "alpha", "use": "yum"},
			[]said{
				all, none, noneNamed,
				{"yum --assumeno install alpha", strings.ReplaceAll(dnfInstall, "Installing dependencies:", "Installing for dependencies:"), "", 1},
				{"yum -y install alpha", "", "", 0},
			},
			"yum -y install alpha", "install alpha 1.0-1, with 2 other packages",
			"+ a-very-long-package-name-that-will-not-fit-into-eighty-columns 1.0-1\n+ alpha 1.0-1\n+ beta 1:1.0-1\n", "",
		},
		{
			"pacman installs", "pacman",
			exectest.Args{"name": []any{"alpha", "grp"}},
			[]said{
				{"pacman --query", "gamma 1.0-1\n", "", 0},
				{"pacman --deptest -- alpha grp", "alpha\ngrp\n", "", 127},
				{"pacman --sync --print --print-format %n %v --needed -- alpha grp", "beta 1.0-1\nalpha 1.0-1\ngamma 2.0-1\n", "", 0},
				{"pacman --sync --noconfirm --noprogressbar --needed -- alpha grp", "", "", 0},
			},
			"pacman --sync --noconfirm --noprogressbar --needed -- alpha grp", "install alpha 1.0-1, with 2 other packages",
			"+ alpha 1.0-1\n+ beta 1.0-1\n- gamma 1.0-1\n+ gamma 2.0-1\n", "",
		},
		{
			"pacman has it", "pacman",
			exectest.Args{"name": []any{"alpha", "virtual"}},
			[]said{{"pacman --query", "alpha 1.0-1\n", "", 0}, {"pacman --deptest -- alpha virtual", "", "", 0}},
			"", "", "", "",
		},
		{
			"pacman removes", "pacman",
			exectest.Args{"name": "alpha,grp,nosuch", "state": "absent", "extra_args": "--recursive", "remove_nosave": true},
			[]said{
				{"pacman --query", "alpha 1.0-1\nbeta 1.0-1\ngamma 1.0-1\n", "", 0},
				{"pacman --query --groups -- grp", "grp gamma\n", "", 0},
				{"pacman --query --groups -- nosuch", "", "error: group 'nosuch' was not found\n", 1},
				{"pacman --remove --print --print-format %n %v --nosave --recursive -- alpha gamma", "alpha 1.0-1\nbeta 1.0-1\ngamma 1.0-1\n", "", 0},
				{"pacman --remove --noconfirm --noprogressbar --nosave --recursive -- alpha gamma", "", "", 0},
			},
			"pacman --remove --noconfirm --noprogressbar --nosave --recursive -- alpha gamma", "purge alpha, with 2 other packages",
			"- alpha 1.0-1\n- beta 1.0-1\n- gamma 1.0-1\n", "",
		},
		{
			"pacman upgrades all", "package",
			exectest.Args{"upgrade": true, "use": "pacman"},
			[]said{
				{"pacman --query", "alpha 1.0-1\n", "", 0},
				{"pacman --sync --print --print-format %n %v --sysupgrade", "alpha 2.0-1\n", "", 0},
				{"pacman --sync --noconfirm --noprogressbar --sysupgrade", "", "", 0},
			},
			"pacman --sync --noconfirm --noprogressbar --sysupgrade", "upgrade 1 package", "- alpha 1.0-1\n+ alpha 2.0-1\n", "",
		},
		{
			"pacman does not know it", "pacman",
			exectest.Args{"name": "nosuch", "state": "latest"},
			[]said{
				{"pacman --query", "", "", 0},
				{"pacman --sync --print --print-format %n %v --needed -- nosuch", "", "error: target not found: nosuch\n", 1},
			},
			"", "", "", "there is no package nosuch",
		},
		{
			"pacman must not", "pacman",
			exectest.Args{"name": "beta", "state": "absent"},
			[]said{
				{"pacman --query", "alpha 1.0-1\nbeta 1.0-1\n", "", 0},
				{
					"pacman --remove --print --print-format %n %v -- beta", "",
					"error: failed to prepare transaction (could not satisfy dependencies)\n:: removing beta breaks dependency 'beta' required by alpha\n", 1,
				},
			},
			"", "", "", "pacman: failed to prepare transaction (could not satisfy dependencies)",
		},
		{
			"zypper installs", "zypper",
			exectest.Args{"name": "alpha", "disable_gpg_check": true},
			[]said{
				none,
				{"zypper --non-interactive --xmlout --no-gpg-checks install --dry-run --auto-agree-with-licenses --no-recommends -- alpha", zypperInstall, "", 0},
				{zypp + "--no-gpg-checks install --auto-agree-with-licenses --no-recommends -- alpha", "", "", 103},
			},
			zypp + "--no-gpg-checks install --auto-agree-with-licenses --no-recommends -- alpha",
			"install alpha 1.0-1, with 1 other package", "+ alpha 1.0-1\n+ beta 1.0-1\n", "",
		},
		{"zypper has it", "zypper", exectest.Args{"name": "alpha"}, []said{there}, "", "", "", ""},
		{"zypper has none", "zypper", exectest.Args{"name": "alpha", "state": "absent"}, []said{none}, "", "", "", ""},
		{
			"zypper upgrades all", "zypper",
			exectest.Args{"name": "*", "state": "latest"},
			[]said{
				{zypp + "--xmlout update --dry-run --auto-agree-with-licenses --no-recommends", zypperUpgrade, "", 0},
				{zypp + "update --auto-agree-with-licenses --no-recommends", "", "", 0},
			},
			zypp + "update --auto-agree-with-licenses --no-recommends", "upgrade 1 package", "- alpha 1.0-1\n+ alpha 2.0-1\n", "",
		},
		{
			"zypper does not know it", "zypper",
			exectest.Args{"name": "nosuch"},
			[]said{
				{"rpm -q --whatprovides -- nosuch", "", "", 1},
				{zypp + "--xmlout install --dry-run --auto-agree-with-licenses --no-recommends -- nosuch", zypperUnknown, "", 104},
			},
			"", "", "", "there is no package nosuch",
		},
		{
			"apk installs", "apk",
			exectest.Args{"name": "nginx,curl", "no_cache": true, "repository": "http://r/x"},
			[]said{
				{"apk info --installed -- nginx", "", "", 1},
				{"apk info --installed -- curl", "curl\n", "", 0},
				{
					apkCall + "--no-cache --repository=http://r/x add --simulate -- nginx",
					"(1/2) Installing pcre (8.45-r2)\n(2/2) Installing nginx (1.24.0-r7)\nOK: 10 MiB in 20 packages\n", "", 0,
				},
				{apkCall + "--no-cache --repository=http://r/x add -- nginx", "", "", 0},
			},
			apkCall + "--no-cache --repository=http://r/x add -- nginx", "install nginx 1.24.0-r7, with 1 other package",
			"+ nginx 1.24.0-r7\n+ pcre 8.45-r2\n", "",
		},
		{
			"apk upgrades", "apk",
			exectest.Args{"name": "curl", "state": "latest"},
			[]said{
				{apkCall + "add --simulate --upgrade -- curl", "(1/1) Upgrading curl (8.5.0-r0 -> 8.9.1-r0)\nOK: 10 MiB in 20 packages\n", "", 0},
				{apkCall + "add --upgrade -- curl", "", "", 0},
			},
			apkCall + "add --upgrade -- curl", "upgrade curl 8.5.0-r0 → 8.9.1-r0", "- curl 8.5.0-r0\n+ curl 8.9.1-r0\n", "",
		},
		{
			"apk removes", "apk",
			exectest.Args{"name": "curl,nginx", "state": "absent"},
			[]said{
				{"apk info --installed -- curl", "curl\n", "", 0},
				{"apk info --installed -- nginx", "", "", 1},
				{apkCall + "del --simulate -- curl", "(1/1) Purging curl (8.5.0-r0)\nOK: 10 MiB in 20 packages\n", "", 0},
				{apkCall + "del -- curl", "", "", 0},
			},
			apkCall + "del -- curl", "remove curl", "- curl 8.5.0-r0\n", "",
		},
		{
			"apk does not know it", "apk",
			exectest.Args{"name": "nosuch"},
			[]said{
				{"apk info --installed -- nosuch", "", "", 1},
				{
					apkCall + "add --simulate -- nosuch", "",
					"ERROR: unable to select packages:\n  nosuch (no such package):\n    required by: world[nosuch]\n", 1,
				},
			},
			"", "", "", "there is no package nosuch",
		},
		{
			"brew installs and upgrades", "brew",
			exectest.Args{"name": "jq,wget", "state": "latest", "install_options": "HEAD"},
			[]said{
				{"brew info --json=v2 --formula -- jq wget", brewInfo, "", 0},
				{"brew install --formula --HEAD -- jq", "", "", 0},
				{"brew upgrade --formula -- wget", "", "", 0},
			},
			lines("brew install --formula --HEAD -- jq", "brew upgrade --formula -- wget"), "install jq 1.7.1, upgrade wget 1.24.5 → 1.25.0",
			"+ jq 1.7.1\n- wget 1.24.5\n+ wget 1.25.0\n", "",
		},
		{
			"brew removes", "homebrew",
			exectest.Args{"name": "jq,wget", "state": "absent"},
			[]said{{"brew info --json=v2 --formula -- jq wget", brewInfo, "", 0}, {"brew uninstall --formula -- wget", "", "", 0}},
			"brew uninstall --formula -- wget", "remove wget", "- wget 1.24.5\n", "",
		},
		{
			"brew does not know it", "homebrew",
			exectest.Args{"name": "wgte"},
			[]said{{"brew info --json=v2 --formula -- wgte", "", "Error: No available formula with the name \"wgte\". Did you mean wget?\n", 1}},
			"", "", "", "there is no formula wgte; Did you mean wget?",
		},
		{
			"brew as root", "homebrew",
			exectest.Args{"name": "wget"},
			[]said{{"brew info --json=v2 --formula -- wget", "", "Error: Running Homebrew as root is extremely dangerous and no longer supported.\n", 1}},
			"", "", "", "no longer supported.; run the step as the user who owns Homebrew",
		},
		{
			"apt takes a name for no pattern", "apt",
			exectest.Args{"name": "python3.9"},
			[]said{
				{dpkgAll, "", "", 0},
				{"apt-cache pkgnames", "python3.19\npython3.11\n", "", 0},
				{aptCall + aptSim + "install -- python3.9", "Note, selecting 'libpython3.9-x' for regex 'python3.9'\nInst libpython3.9-x (1 x [all])\n", "", 0},
			},
			"", "", "", "there is no package python3.9; did you mean `python3.19`?",
		},
		{
			"apt takes a plus for no wish", "apt",
			exectest.Args{"name": "hello+"},
			[]said{
				{dpkgAll, "", "", 0},
				{"apt-cache pkgnames", "", "", 0},
				{aptCall + aptSim + "install -- hello+", "Inst hello (2.10-3 Debian:12.14/oldstable [amd64])\n", "", 0},
			},
			"", "", "", "there is no package hello+",
		},
		{
			"apt with a virtual package", "apt",
			exectest.Args{"name": "mail-transport-agent"},
			[]said{
				{dpkgAll, "", "", 0},
				{
					aptCall + aptSim + "install -- mail-transport-agent",
					"Package mail-transport-agent is a virtual package provided by:\n  ssmtp 2.64-11\n  postfix 3.7.11-0+deb12u1\n\n",
					"E: Package 'mail-transport-agent' has no installation candidate\n", 100,
				},
			},
			"", "", "", "package mail-transport-agent is provided by several; name one of ssmtp, postfix",
		},
		{
			"apt has one that provides it", "apt",
			exectest.Args{"name": "mail-transport-agent", "state": "latest"},
			[]said{{dpkgAll, "exim4\tamd64\tii \t4.96\tmail-transport-agent, x (= 1)\n", "", 0}},
			"", "", "", "",
		},
		{
			"apt and held packages", "apt",
			exectest.Args{"name": "curl", "state": "latest"},
			[]said{
				{dpkgAll, "curl\tamd64\thi \t7.88\t\n", "", 0},
				{aptCall + aptSim + "install -- curl", "", "E: Held packages were changed and -y was used without --allow-change-held-packages.\n", 100},
			},
			"", "", "", "allow_change_held_packages: true allows that",
		},
		{
			"apt downgrades", "apt",
			exectest.Args{"name": "curl=7.74*", "allow_downgrade": true, "default_release": "bullseye"},
			[]said{
				{dpkgAll, "curl\tamd64\tii \t7.88\t\n", "", 0},
				{
					aptCall + "-t bullseye --allow-downgrades " + aptSim + "install -- curl=7.74*",
					"The following packages will be DOWNGRADED:\n  curl\nInst curl [7.88] (7.74.0-1 Debian:11 [amd64])\nConf curl\n", "", 0,
				},
				{aptCall + "-t bullseye --allow-downgrades install -- curl=7.74*", "", "", 0},
			},
			aptCall + "-t bullseye --allow-downgrades install -- curl=7.74*", "downgrade curl 7.88 → 7.74.0-1", "- curl 7.88\n+ curl 7.74.0-1\n", "",
		},
		{
			"apt has the version", "apt",
			exectest.Args{"name": "curl=7.88*,libx6:amd64"},
			[]said{{dpkgAll, "curl\tamd64\tii \t7.88.1-10\t\nlibx6\tamd64\tii \t2.36\t\n", "", 0}},
			"", "", "", "",
		},
		{
			"apt does not know the version", "apt",
			exectest.Args{"name": "hello=9.9"},
			[]said{
				{dpkgAll, "", "", 0},
				{aptCall + aptSim + "install -- hello=9.9", "", "E: Version '9.9' for 'hello' was not found\n", 100},
			},
			"", "", "", "there is no 9.9 of package hello; `apt-cache policy hello` lists what there is",
		},
		{
			"apt upgrades all", "apt",
			exectest.Args{"upgrade": true, "autoremove": true, "force": true},
			[]said{
				{dpkgAll, "", "", 0},
				{
					aptCall + "--allow-unauthenticated --allow-downgrades --allow-change-held-packages --allow-remove-essential " + aptSim + "--with-new-pkgs --auto-remove upgrade",
					"Remv old [1]\nInst a [1] (2 x [all]) []\nInst b (1 x [all])\nInst c [1] (2 x [all])\n", "", 0,
				},
				{aptCall + "--allow-unauthenticated --allow-downgrades --allow-change-held-packages --allow-remove-essential --with-new-pkgs --auto-remove upgrade", "", "", 0},
			},
			aptCall + "--allow-unauthenticated --allow-downgrades --allow-change-held-packages --allow-remove-essential --with-new-pkgs --auto-remove upgrade",
			"install 1 package, upgrade 2 packages, remove 1 package", "- a 1\n+ a 2\n+ b 1\n- c 1\n+ c 2\n- old 1\n", "",
		},
		{
			"apt with patterns and many", "apt",
			exectest.Args{"name": "php-*", "install_recommends": false},
			[]said{
				{dpkgAll, "php-a\tall\tii \t1\t\n", "", 0},
				{"apt-cache pkgnames", "php\nphp-a\nphp-b\nphp-c\nphp-d\nphp-e\nphp-f\n", "", 0},
				{
					aptCall + "--no-install-recommends " + aptSim + "install -- php-b php-c php-d php-e php-f",
					"Inst php-b (1 x [all])\nInst php-c (1 x [all])\nInst php-d (1 x [all])\nInst php-e (1 x [all])\nInst php-f (1 x [all])\n", "", 0,
				},
				{aptCall + "--no-install-recommends install -- php-b php-c php-d php-e php-f", "", "", 0},
			},
			aptCall + "--no-install-recommends install -- php-b php-c php-d php-e php-f", "install php-b 1, php-c 1, php-d 1, php-e 1, and 1 more",
			"+ php-b 1\n+ php-c 1\n+ php-d 1\n+ php-e 1\n+ php-f 1\n", "",
		},
		{
			"apt puts things right", "apt",
			exectest.Args{"state": "fixed"},
			[]said{
				{dpkgAll, "", "", 0},
				{aptCall + aptSim + "--fix-broken install", "Inst needed (1 x [all])\n", "", 0},
				{aptCall + "--fix-broken install", "", "", 0},
			},
			aptCall + "--fix-broken install", "install 1 package", "+ needed 1\n", "",
		},
		{
			"apt builds", "apt",
			exectest.Args{"name": "hello", "state": "build-dep"},
			[]said{
				{dpkgAll, "", "", 0},
				{aptCall + aptSim + "build-dep -- hello", "Inst debhelper (13 x [all])\n", "", 0},
				{aptCall + "build-dep -- hello", "", "", 0},
			},
			aptCall + "build-dep -- hello", "install 1 package", "+ debhelper 13\n", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			do := func() (*exec.Job, func() string) {
				job := exectest.NewJob(t, tt.action, tt.in)
				return job, fakes(t, job, tt.answers...)
			}
			job, calls := do()
			predicted, err := exectest.PredictJob(t, job)
			if err != nil && tt.err == "" {
				t.Fatalf("Check: %v", err)
			}
			if tt.told != "" && strings.Contains(calls(), tt.told) {
				t.Errorf("a prediction called\n%s", calls())
			}
			job, calls = do()
			r := exectest.RunJob(t, job)
			if tt.err != "" {
				exectest.WantOutcome(t, r, events.Failed, tt.err)
				return
			}
			outcome := events.Changed
			if tt.told == "" {
				outcome = events.OK
			}
			exectest.WantOutcome(t, r, outcome, "")
			if r.Diff == nil || *r.Diff != predicted {
				t.Fatalf("predicted %+v, did %+v", predicted, r.Diff)
			}
			if r.Diff.Summary != tt.summary || r.Diff.Text != tt.text {
				t.Errorf("summary %q, text\n%s\nwant %q\n%s", r.Diff.Summary, r.Diff.Text, tt.summary, tt.text)
			}
			if !strings.HasSuffix(strings.TrimSpace(calls()), strings.TrimSpace(tt.told)) || outcome == events.OK && strings.Contains(calls(), "-y ") && !strings.Contains(calls(), " -s ") {
				t.Errorf("it called\n%s", calls())
			}
		})
	}
}

func TestPackageResources(t *testing.T) {
	job := exectest.NewJob(t, "apt", exectest.Args{"name": "a,b"})
	fakes(t, job,
		said{dpkgAll, "", "", 0},
		said{aptCall + aptSim + "install -- a b", "Remv gone [1]\nInst a (1 x [all])\nInst other (1 x [all])\nInst b (2 x [all])\n", "", 0},
		said{aptCall + "install -- a b", "", "", 0})
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Changed, "")
	if len(r.Resources) != 2 || !reflect.DeepEqual(r.Resources[0], events.Resource{
		Type: "package", Name: "a", Change: events.ChangeCreate,
		Undo: &events.Undo{Action: "apt", Args: exectest.Args{"name": "a", "state": "absent"}, Env: job.Env},
	}) || r.Resources[1].Name != "b" {
		t.Errorf("%+v", r.Resources)
	}
	if r.Diff.Kind != events.ChangeUpdate {
		t.Errorf("kind %s of a transaction that also removes", r.Diff.Kind)
	}
}

func TestPackageErrors(t *testing.T) {
	const install = aptCall + "install -- a"
	sim := []said{{dpkgAll, "", "", 0}, {aptCall + aptSim + "install -- a", "Inst a (1 x [all])\n", "", 0}}
	tests := []struct {
		name   string
		in     exectest.Args
		answer []said
		class  string
		err    string
	}{
		{"network", nil, []said{{install, "", "E: Failed to fetch http://x/a.deb  Temporary failure resolving 'x'\nE: Unable to fetch some archives\n", 100}}, fault.Transient, "apt-get: Failed to fetch http://x/a.deb  Temporary failure resolving 'x'; Unable to fetch some archives"},
		{"old lists", nil, []said{{install, "", "E: Failed to fetch http://x/a.deb  404  Not Found [IP: 1.2.3.4 80]\n", 100}}, fault.Fatal, "update_cache: true fetches them"},
		{"interrupted", nil, []said{{install, "", "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem.\n", 100}}, fault.Fatal, "state: fixed does that"},
		{"no words", nil, []said{{install, "", "", 3}}, fault.Fatal, "apt-get: exit status 3"},
		{"update", exectest.Args{"update_cache": true, "update_cache_retries": 0}, []said{{aptCall + "update", "", "W: Failed to fetch http://x/InRelease  Could not connect to x:80\nW: Some index files failed to download. They have been ignored, or old ones used instead.\n", 0}}, fault.Transient, "apt-get: "},
		{"update, not signed", exectest.Args{"update_cache": true}, []said{{aptCall + "update", "", "E: The repository 'http://x' is not signed.\n", 100}}, fault.Fatal, "is not signed"},
		{"update, a second try", exectest.Args{"update_cache": true, "update_cache_retries": 1, "update_cache_retry_max_delay": 0}, []said{
			{aptCall + "update", "", "E: Could not resolve 'x'\n", 100},
			{aptCall + "update", "", "E: second\n", 100},
		}, fault.Fatal, "apt-get: second"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := exectest.Args{"name": "a"}
			maps.Copy(in, tt.in)
			job := exectest.NewJob(t, "apt", in)
			fakes(t, job, append(tt.answer, sim...)...)
			r := exectest.RunJob(t, job)
			exectest.WantOutcome(t, r, events.Failed, tt.err)
			if r.Class != tt.class {
				t.Errorf("class %s, want %s", r.Class, tt.class)
			}
		})
	}
}

// TestPackageLock: while another holds the lock it is tried again, and what is told is told once it is free.
func TestPackageLock(t *testing.T) {
	locked := said{"pacman --sync --noconfirm --noprogressbar --needed -- a", "", "error: failed to init transaction (unable to lock database)\n", 1}
	answers := []said{
		{"pacman --query", "", "", 0},
		{"pacman --deptest -- a", "a\n", "", 127},
		{"pacman --sync --print --print-format %n %v --needed -- a", "a 1\n", "", 0},
		locked,
	}
	job := exectest.NewJob(t, "pacman", exectest.Args{"name": "a", "lock_timeout": 0})
	fakes(t, job, answers...)
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Failed, "unable to lock database")
	if r.Class != fault.Transient {
		t.Errorf("class %s", r.Class)
	}
	job = exectest.NewJob(t, "pacman", exectest.Args{"name": "a"})
	calls := fakes(t, job, append(answers, said{locked.call, "", "", 0})...)
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Changed, "")
	if n := strings.Count(calls(), locked.call); n != 2 {
		t.Errorf("it tried %d times", n)
	}
}

// TestPackageLists: without the lists nobody knows whether there is such a package, so a prediction leaves it open; the
// run fetches them and asks again.
func TestPackageLists(t *testing.T) {
	unknown := said{aptCall + aptSim + "install -- a", "", "E: Unable to locate package a\n", 100}
	answers := []said{
		{dpkgAll, "", "", 0},
		{"apt-cache pkgnames", "", "", 0},
		unknown,
		{unknown.call, "Inst a (1 x [all])\n", "", 0},
		{aptCall + "update", "", "", 0},
		{aptCall + "install -- a", "", "", 0},
	}
	job := exectest.NewJob(t, "apt", exectest.Args{"name": "a", "update_cache": true})
	fakes(t, job, answers...)
	r := exec.DryRun{}.Run(t.Context(), job)
	if r.Outcome != events.OK || r.Diff.Kind != events.ChangeUnknown || !strings.Contains(r.Message, "there is no package a") {
		t.Errorf("dry run: %v %+v %q", r.Outcome, r.Diff, r.Message)
	}
	job = exectest.NewJob(t, "apt", exectest.Args{"name": "a", "update_cache": true})
	calls := fakes(t, job, answers...)
	r = exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Changed, "")
	if r.Diff.Summary != "install a 1" || !strings.Contains(calls(), "update\n") || r.Fields["cache_updated"] != false {
		t.Errorf("%+v %v\n%s", r.Diff, r.Fields, calls())
	}
	job = exectest.NewJob(t, "apt", exectest.Args{"name": "a", "update_cache": true, "state": "absent"})
	calls = fakes(t, job, answers...)
	r = exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.OK, "")
	if !strings.Contains(calls(), "update\n") {
		t.Errorf("the lists were not fetched:\n%s", calls())
	}
}

func TestPackageManager(t *testing.T) {
	job := exectest.NewJob(t, "package", exectest.Args{"name": "a"})
	fakes(t, job)
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "this machine has no package manager on its PATH")
	job = exectest.NewJob(t, "package", exectest.Args{"name": "a"})
	fakes(t, job, said{call: "emerge x"})
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "packages of emerge are not known to moon")
	job = exectest.NewJob(t, "package", exectest.Args{"name": "a"})
	fakes(t, job, said{call: "apk info --installed -- a", stdout: "a\n"})
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.OK, "")
}
