package action_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

// unit is what systemctl show says of a service, as far as moon looks.
func unit(load, active, file string) string {
	return lines("Type=notify", "Restart=no", "ExecStart={ path=/usr/sbin/nginx ; argv[]=/usr/sbin/nginx -g daemon on; ; ignore_errors=no }",
		"Id=nginx.service", "LoadState="+load, "ActiveState="+active, "SubState=running", "UnitFileState="+file)
}

const (
	show      = "systemctl show --no-pager -- nginx"
	isEnabled = "systemctl is-enabled -- nginx"
)

func TestService(t *testing.T) {
	running := []said{{show, unit("loaded", "active", "enabled"), "", 0}, {isEnabled, "enabled\n", "", 0}}
	dead := []said{{show, unit("loaded", "inactive", "disabled"), "", 0}, {isEnabled, "disabled\n", "", 1}}
	masked := []said{{show, unit("masked", "inactive", "masked"), "", 0}, {isEnabled, "masked\n", "", 1}}
	with := func(looks []said, tells ...string) []said {
		all := append([]said{}, looks...)
		for _, call := range tells {
			all = append(all, said{call: call})
		}
		return all
	}
	rc := func(status int, table string) []said {
		return []said{{"rc-service --exists nginx", "", "", 0}, {"rc-service -- nginx status", "", "", status}, {"rc-update show -- default", table, "", 0}}
	}
	tests := []struct {
		name    string
		in      exectest.Args
		answers []said
		tells   []string
		summary string
		err     string
	}{
		{"starts", exectest.Args{"state": "started"}, dead, []string{"systemctl start -- nginx"}, "start nginx", ""},
		{"runs", exectest.Args{"state": "started", "enabled": true}, running, nil, "", ""},
		{"enables and starts", exectest.Args{"state": "started", "enabled": true}, dead, []string{"systemctl enable -- nginx", "systemctl start -- nginx"}, "enable, start nginx", ""},
		{"stops and disables", exectest.Args{"state": "stopped", "enabled": false}, running, []string{"systemctl disable -- nginx", "systemctl stop -- nginx"}, "disable, stop nginx", ""},
		{"stopped", exectest.Args{"state": "stopped", "enabled": false}, dead, nil, "", ""},
		{"restarts", exectest.Args{"state": "restarted"}, running, []string{"systemctl restart -- nginx"}, "restart nginx", ""},
		{"restarts what does not run", exectest.Args{"state": "restarted"}, dead, []string{"systemctl restart -- nginx"}, "restart nginx", ""},
		{"restarts with a pause", exectest.Args{"state": "restarted", "sleep": 0.01}, running, []string{"systemctl stop -- nginx", "systemctl start -- nginx"}, "restart nginx", ""},
		{"reloads", exectest.Args{"state": "reloaded", "no_block": true}, running, []string{"systemctl --no-block reload -- nginx"}, "reload nginx", ""},
		{"reloads what does not run", exectest.Args{"state": "reloaded"}, dead, []string{"systemctl start -- nginx"}, "start nginx", ""},
		{"masks", exectest.Args{"masked": true, "state": "stopped", "force": true}, running, []string{"systemctl --force mask -- nginx", "systemctl stop -- nginx"}, "mask, stop nginx", ""},
		{"is masked", exectest.Args{"masked": true, "state": "stopped"}, masked, nil, "", ""},
		{"cannot start what is masked", exectest.Args{"state": "started"}, masked, nil, "", "nginx is masked; masked: false lifts that"},
		{"unmasks", exectest.Args{"masked": false, "enabled": true}, masked, []string{"systemctl unmask -- nginx", "systemctl enable -- nginx"}, "unmask, enable nginx", ""},
		{"static", exectest.Args{"enabled": true}, []said{{show, unit("loaded", "active", "static"), "", 0}, {isEnabled, "static\n", "", 0}}, nil, "", ""},
		{"an init script under systemd", exectest.Args{"enabled": true}, []said{{show, unit("loaded", "active", "generated"), "", 0}, {isEnabled, "disabled\n", "", 1}}, []string{"systemctl enable -- nginx"}, "enable nginx", ""},
		{"an alias is not enabled", exectest.Args{"enabled": true}, []said{{show, unit("loaded", "active", "alias"), "", 0}, {isEnabled, "alias\n", "", 0}}, []string{"systemctl enable -- nginx"}, "enable nginx", ""},
		{
			"for the user",
			exectest.Args{"state": "started", "scope": "user"},
			[]said{{"systemctl --user show --no-pager -- nginx", unit("loaded", "inactive", "enabled"), "", 0}, {"systemctl --user is-enabled -- nginx", "enabled\n", "", 0}},
			[]string{"systemctl --user start -- nginx"},
			"start nginx", "",
		},
		{
			"for every user",
			exectest.Args{"enabled": true, "scope": "global"},
			[]said{{"systemctl --global is-enabled -- nginx", "disabled\n", "", 1}},
			[]string{"systemctl --global enable -- nginx"},
			"enable nginx", "",
		},
		{
			"is none",
			exectest.Args{"state": "stopped", "name": "ngnix"},
			[]said{
				{"systemctl show --no-pager -- ngnix", unit("not-found", "inactive", ""), "", 0},
				{"systemctl list-unit-files --no-legend --no-pager --plain", "nginx.service enabled enabled\nssh.service enabled enabled\n", "", 0},
			},
			nil, "", "there is no service ngnix; did you mean `nginx`?",
		},
		{"is broken", exectest.Args{"state": "started"}, []said{{show, unit("bad-setting", "inactive", ""), "", 0}}, nil, "", "the unit of nginx cannot be used; `systemctl status nginx` says why"},
		{
			"nobody there",
			exectest.Args{"state": "started"},
			[]said{{show, "", "System has not been booted with systemd as init system (PID 1). Can't operate.\nFailed to connect to bus: Host is down\n", 1}},
			nil, "", "systemctl: Failed to connect to bus: Host is down; systemd does not run here, or not for this user",
		},
		{"arguments", exectest.Args{"state": "started", "arguments": "-x"}, nil, nil, "", "systemd gives a service no arguments"},

		{"OpenRC starts", exectest.Args{"use": "openrc", "state": "started", "enabled": true, "arguments": "-x 'a b'"}, rc(3, ""), []string{"rc-update add -- nginx default", "rc-service -- nginx start -x a b"}, "enable, start nginx", ""},
		{"OpenRC runs", exectest.Args{"use": "openrc", "state": "started", "enabled": true}, rc(0, "       nginx | default\n"), nil, "", ""},
		{"OpenRC crashed", exectest.Args{"use": "openrc", "state": "stopped", "enabled": false}, rc(32, " nginx | boot default\n"), []string{"rc-update del -- nginx default"}, "disable nginx", ""},
		{"OpenRC masks nothing", exectest.Args{"use": "openrc", "masked": true}, nil, nil, "", "masked is for systemd, which does not run here"},
		{
			"OpenRC has none",
			exectest.Args{"use": "openrc", "state": "started"},
			[]said{{"rc-service --exists nginx", "", "", 1}, {"rc-service --list", "ngnix\nsshd\n", "", 0}},
			nil, "", "there is no service nginx; did you mean `ngnix`?",
		},
		{"no script", exectest.Args{"use": "sysvinit", "name": "moon-nothing", "state": "started"}, nil, nil, "", "there is no service moon-nothing; systemd does not run here, and /etc/init.d/moon-nothing does not exist"},
		{"no reload of what is not there", exectest.Args{"use": "sysvinit", "state": "started", "daemon_reload": true}, nil, nil, "", "daemon_reload is for systemd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := exectest.Args{"name": "nginx", "use": "systemd"}
			maps.Copy(in, tt.in)
			job := exectest.NewJob(t, "service", in)
			t.Setenv("XDG_RUNTIME_DIR", "/run/user/0")
			calls := fakes(t, job, with(tt.answers, tt.tells...)...)
			predicted, err := exectest.PredictJob(t, job)
			before := calls()
			r := exectest.RunJob(t, job)
			if tt.err != "" {
				exectest.WantOutcome(t, r, events.Failed, tt.err)
				return
			}
			outcome := events.Changed
			if tt.tells == nil {
				outcome = events.OK
			}
			exectest.WantOutcome(t, r, outcome, "")
			if err != nil || r.Diff == nil || *r.Diff != predicted || predicted.Summary != tt.summary {
				t.Errorf("predicted %+v, %v, did %+v; want %q", predicted, err, r.Diff, tt.summary)
			}
			told := strings.TrimPrefix(calls(), before+before)
			if want := strings.Join(append(tt.tells, ""), "\n"); told != want {
				t.Errorf("it told\n%swant\n%s", told, want)
			}
		})
	}
}

func TestServiceFails(t *testing.T) {
	job := exectest.NewJob(t, "systemd", exectest.Args{"name": "nginx", "use": "systemd", "state": "started"})
	calls := fakes(t, job,
		said{show, unit("loaded", "failed", "enabled"), "", 0}, said{isEnabled, "enabled\n", "", 0},
		said{"systemctl start -- nginx", "", "Job for nginx.service failed because the control process exited with error code.\nSee \"systemctl status nginx.service\" for details.\n", 1},
		said{"journalctl --no-pager -n 20 -u nginx", "nginx[12]: bind() to 0.0.0.0:80 failed\n", "", 0},
		said{"systemctl show --no-pager --property=Result,ExecMainStatus -- nginx", "Result=exit-code\nExecMainStatus=1\n", "", 0})
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Failed, "nginx could not be started: exit-code (exit status 1); the last lines of its log are in the output")
	if !strings.Contains(exectest.Stdout(job), "bind() to 0.0.0.0:80 failed") {
		t.Errorf("output %q\n%s", exectest.Stdout(job), calls())
	}
	job = exectest.NewJob(t, "systemd", exectest.Args{"name": "nginx", "use": "systemd", "enabled": true})
	fakes(t, job, said{show, unit("loaded", "active", "disabled"), "", 0}, said{isEnabled, "disabled\n", "", 1},
		said{"systemctl enable -- nginx", "", "Failed to enable unit: Access denied\n", 1})
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "systemctl: Failed to enable unit: Access denied; it must run as root")
}

// TestServiceReload: units that have changed are read first, and that alone changes nothing; what is to be done is
// decided with what was read.
func TestServiceReload(t *testing.T) {
	job := exectest.NewJob(t, "systemd", exectest.Args{"daemon_reload": true, "use": "systemd"})
	calls := fakes(t, job, said{call: "systemctl daemon-reload"})
	dry := exec.DryRun{}.Run(t.Context(), job)
	if dry.Outcome != events.OK || dry.Diff.Kind != events.ChangeNone || calls() != "" {
		t.Errorf("dry run: %+v\n%s", dry, calls())
	}
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.OK, "")
	if calls() != "systemctl daemon-reload\n" {
		t.Errorf("it called\n%s", calls())
	}
	job = exectest.NewJob(t, "systemd", exectest.Args{"name": "nginx", "state": "started", "daemon_reload": true, "daemon_reexec": true, "use": "systemd"})
	calls = fakes(t, job, said{call: "systemctl daemon-reexec"}, said{call: "systemctl daemon-reload"},
		said{show, unit("loaded", "active", "enabled"), "", 0}, said{show, unit("loaded", "inactive", "enabled"), "", 0},
		said{isEnabled, "enabled\n", "", 0}, said{call: "systemctl start -- nginx"})
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Changed, "")
	if got, wanted := calls(), lines(show, isEnabled, "systemctl daemon-reexec", "systemctl daemon-reload", show, isEnabled, "systemctl start -- nginx"); got != wanted {
		t.Errorf("it called\n%swant\n%s", got, wanted)
	}
	if status, _ := r.Fields["status"].(map[string]any); status["ActiveState"] != "inactive" || r.Fields["state"] != "started" || r.Fields["enabled"] != true {
		t.Errorf("fields %v", r.Fields)
	}
	if len(r.Resources) != 1 || !reflect.DeepEqual(r.Resources[0], events.Resource{
		Type: "service", Name: "nginx", Change: events.ChangeUpdate,
		Undo: &events.Undo{Action: "service", Args: exectest.Args{"name": "nginx", "state": "stopped", "use": "systemd"}, Env: job.Env},
	}) {
		t.Errorf("%+v", r.Resources)
	}
}
