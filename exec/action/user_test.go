package action_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"moon/events"
	"moon/exec/exectest"
	"moon/exec/fault"
)

func needsLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("users and groups are changed on Linux only")
	}
}

func TestUserCalls(t *testing.T) {
	needsLinux(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can read passwords")
	}
	const hash = "$5$rounds=1000$salt$abc"
	tests := []struct {
		name    string
		action  string
		in      exectest.Args
		summary string
		calls   string
	}{
		{
			"everything", "user",
			exectest.Args{
				"name": "moon-none", "uid": 3999999, "non_unique": true, "group": "daemon", "groups": "adm,daemon,sys", "comment": "A; B", "home": "/srv/none",
				"shell": "/bin/sh", "expires": 86400, "system": true, "uid_min": 5, "skeleton": "/srv/skel", "umask": "077", "password": hash, "password_expire_max": 9,
			},
			"new user, uid 3999999, group daemon, groups adm, sys, home /srv/none, shell /bin/sh, expires 1970-01-02, password, password lasts 9 days",
			"useradd [-u] [3999999] [-o] [-g] [daemon] [-G] [adm,sys] [-c] [A; B] [-d] [/srv/none] [-s] [/bin/sh] [-e] [1970-01-02] [-r] [-K] [UID_MIN=5]" +
				" [-m] [-k] [/srv/skel] [-K] [UMASK=0077] [moon-none]\n" +
				"chpasswd [-e]\nstdin: moon-none:" + hash + "\nchage [-M] [9] [moon-none]",
		},
		{"nothing", "user", exectest.Args{"name": "moon-none", "create_home": false}, "new user", "useradd [-M] [moon-none]"},
		{"its own group is there", "user", exectest.Args{"name": "adm", "create_home": false}, "new user, group adm", "useradd [-g] [adm] [-M] [adm]"},
		{"locked", "user", exectest.Args{"name": "moon-none", "create_home": false, "password": hash, "password_lock": true}, "new user, password", "useradd [-M] [moon-none]\nchpasswd [-e]\nstdin: moon-none:!" + hash},
		{"update", "user", exectest.Args{"name": "daemon", "comment": "x", "groups": "adm", "append": true, "uid": 3999998}, `uid 1 → 3999998, groups +adm, comment "daemon" → "x"`, "usermod [-u] [3999998] [-a] [-G] [adm] [-c] [x] [daemon]"},
		{"move", "user", exectest.Args{"name": "daemon", "home": "/srv/none", "move_home": true}, "home /usr/sbin → /srv/none with what is in it", "usermod [-d] [/srv/none] [-m] [daemon]"},
		{"remove", "user", exectest.Args{"name": "daemon", "state": "absent", "remove": true, "force": true}, "user daemon with /usr/sbin", "userdel [-f] [-r] [daemon]"},
		{"group", "group", exectest.Args{"name": "moon-none", "gid": 1, "non_unique": true, "system": true, "gid_max": 7}, "new group, gid 1", "groupadd [-g] [1] [-o] [-r] [-K] [GID_MAX=7] [moon-none]"},
		{"gid", "group", exectest.Args{"name": "adm", "gid": 3999997}, "gid 4 → 3999997", "groupmod [-g] [3999997] [adm]"},
		{"remove group", "group", exectest.Args{"name": "adm", "state": "absent"}, "group adm", "groupdel [adm]"},
		{"remove a user's group", "group", exectest.Args{"name": "daemon", "state": "absent", "force": true}, "group daemon", "groupdel [-f] [daemon]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := fake(t, map[string]string{
				"useradd": "", "usermod": "", "userdel": "", "chage": "", "groupadd": "", "groupmod": "", "groupdel": "",
				"chpasswd": `{ printf 'stdin: '; cat; } >> ${0%/*}/calls`,
			})
			diff, err := exectest.PredictJob(t, f.job(t, tt.action, tt.in))
			if err != nil || f.calls(t) != "" || diff.Summary != tt.summary {
				t.Errorf("it would do %+v, %v\nwant %s", diff, err, tt.summary)
			}
			job := f.job(t, tt.action, tt.in)
			r := exectest.RunJob(t, job)
			if strings.HasPrefix(tt.calls, "useradd") {
				// The fake made nobody.
				exectest.WantOutcome(t, r, events.Failed, "was made, but the system does not know it")
			} else {
				exectest.WantOutcome(t, r, events.Changed, "")
				if len(r.Resources) != 1 || r.Resources[0].Type != tt.action || r.Resources[0].Name != tt.in["name"] || r.Resources[0].Change != r.Diff.Kind {
					t.Errorf("it touched %+v", r.Resources)
				}
			}
			if got := f.calls(t); got != tt.calls {
				t.Errorf("calls\n%s\nwant\n%s", got, tt.calls)
			}
		})
	}
}

func TestUserFailures(t *testing.T) {
	needsLinux(t)
	f := fake(t, map[string]string{"useradd": "echo 'useradd: cannot lock /etc/passwd; try again later.' >&2; exit 1", "groupadd": "echo no >&2; exit 3"})
	r := exectest.RunJob(t, f.job(t, "user", exectest.Args{"name": "moon-none"}))
	exectest.WantOutcome(t, r, events.Failed, "useradd: cannot lock /etc/passwd; try again later.")
	if r.Class != fault.Transient {
		t.Errorf("class %s", r.Class)
	}
	r = exectest.RunJob(t, f.job(t, "group", exectest.Args{"name": "moon-none"}))
	exectest.WantOutcome(t, r, events.Failed, "groupadd: no")
	if r.Class != fault.Fatal {
		t.Errorf("class %s", r.Class)
	}
	exectest.WantRC(t, r, 3)

	for _, tt := range []struct {
		action string
		in     exectest.Args
		says   string
	}{
		{"user", exectest.Args{"name": "moon-none", "group": "moon-nowhere"}, "group moon-nowhere does not exist"},
		{"user", exectest.Args{"name": "moon-none", "groups": "adm,moon-nowhere"}, "group moon-nowhere does not exist"},
		{"user", exectest.Args{"name": "moon-none", "uid": 0}, "uid 0 is taken by user root; non_unique: true lets both have it"},
		{"group", exectest.Args{"name": "moon-none", "gid": 0}, "gid 0 is taken by group root; non_unique: true lets both have it"},
		{"group", exectest.Args{"name": "root", "state": "absent"}, "group root is user root's own; force: true removes it anyway"},
		{"user", exectest.Args{"name": "root", "state": "absent"}, "userdel is not installed; it is in the package passwd (Debian), shadow-utils (Fedora, RHEL) or shadow (Alpine, Arch, SUSE)"},
	} {
		exectest.WantOutcome(t, exectest.RunJob(t, f.job(t, tt.action, tt.in)), events.Failed, tt.says)
		diff, err := exectest.PredictJob(t, f.job(t, tt.action, tt.in))
		if err != nil || diff.Kind != events.ChangeUnknown || diff.Summary != tt.says {
			t.Errorf("%s %v: it would do %+v, %v", tt.action, tt.in, diff, err)
		}
	}
}
