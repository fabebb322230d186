package action_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

// fakeComposer answers as composer does for a project in which vendor says what is installed.
const fakeComposer = `case "$*" in
"help require"*) echo '{"definition": {"options": {"no-ansi": {}, "no-interaction": {}, "dry-run": {}}}}' ;;
"help show"*) echo '{"definition": {"options": {"no-ansi": {}, "working-dir": {}}}}' ;;
"help nosuch"*) echo '  Command "nosuch" is not defined.' >&2; exit 1 ;;
help*) echo 'Do not run Composer as root' >&2; echo '{"definition": {"options": {"no-ansi": {}, "no-interaction": {}, "no-progress": {}, "no-dev": {},
	"optimize-autoloader": {}, "dry-run": {}, "no-scripts": {}}}}' ;;
*broken*) echo 'Your requirements could not be resolved' >&2; exit 2 ;;
*--dry-run*) test -d DIR/vendor && echo 'Nothing to install, update or remove' >&2 || printf 'Package operations: 1 install\n  - Installing acme/http (1.0)\n' >&2 ;;
*) test -d DIR/vendor && echo 'Nothing to install, update or remove' >&2 || { mkdir DIR/vendor; echo '  - Installing acme/http (1.0)' >&2; } ;;
esac`

func TestComposer(t *testing.T) {
	dir := t.TempDir()
	f := fake(t, map[string]string{"composer": strings.ReplaceAll(fakeComposer, "DIR", dir), "php": `exec /bin/sh "$@"`})
	in := exectest.Args{"working_dir": dir, "no_scripts": true, "prefer_source": true}
	job := f.job(t, "composer", in)
	job.Diff = true
	dry := exec.DryRun{}.Run(t.Context(), job)
	if dry.Outcome != events.Changed || dry.Diff.Summary != "composer install" || dry.Diff.Text != "+Installing acme/http (1.0)\n" {
		t.Errorf("a dry run says %v %+v %s", dry.Outcome, dry.Diff, dry.Error)
	}
	if _, err := os.Stat(filepath.Join(dir, "vendor")); err == nil {
		t.Fatal("a dry run has installed something")
	}
	f.calls(t)
	r := exectest.RunJob(t, f.job(t, "composer", in))
	exectest.WantOutcome(t, r, events.Changed, "")
	want := "composer [help] [install] [--no-interaction] [--format=json]\n" +
		"composer [install] [--no-ansi] [--no-interaction] [--no-progress] [--no-dev] [--no-scripts] [--optimize-autoloader] [--working-dir] [" + dir + "]"
	if calls := f.calls(t); calls != want {
		t.Errorf("calls\n%s\nwant\n%s", calls, want)
	}
	if r.Fields["msg"] != "- Installing acme/http (1.0)" || len(r.Resources) != 2 || r.Resources[0].Name != filepath.Join(dir, "vendor") {
		t.Errorf("%v %+v", r.Fields, r.Resources)
	}
	for name, again := range map[string]exec.Result{
		"run": exectest.RunJob(t, f.job(t, "composer", in)), "dry run": exec.DryRun{}.Run(t.Context(), f.job(t, "composer", in)),
	} {
		if again.Outcome != events.OK {
			t.Errorf("a second %s: %v %+v %s", name, again.Outcome, again.Diff, again.Error)
		}
	}
	// The options of the command count, and not what a step gives by default.
	f.calls(t)
	exectest.RunJob(t, f.job(t, "composer", exectest.Args{"command": "require", "arguments": "'acme/x:^1 || ^2' -W", "working_dir": dir, "executable": "php"}))
	if calls := f.calls(t); !strings.Contains(calls, "php ["+f.dir+"/composer] [require] [--no-ansi] [--no-interaction] [--working-dir] ["+dir+"] [acme/x:^1 || ^2] [-W]") {
		t.Errorf("calls\n%s", calls)
	}
	exectest.RunJob(t, f.job(t, "composer", exectest.Args{"command": "require", "arguments": "acme/x", "global_command": true}))
	if calls := f.calls(t); !strings.Contains(calls, "composer [global] [require] [--no-ansi] [--no-interaction] [acme/x]") {
		t.Errorf("calls\n%s", calls)
	}
	if dry := (exec.DryRun{}).Run(t.Context(), f.job(t, "composer", exectest.Args{"command": "show", "working_dir": dir})); dry.Diff == nil ||
		dry.Diff.Kind != events.ChangeUnknown {
		t.Errorf("%+v", dry)
	}
	for want, in := range map[string]exectest.Args{
		`composer: Command "nosuch" is not defined.`:        {"command": "nosuch", "working_dir": dir},
		"composer: Your requirements could not be resolved": {"command": "require", "arguments": "broken", "working_dir": dir},
		"/nowhere/x does not exist":                         {"working_dir": "/nowhere/x"},
	} {
		exectest.WantOutcome(t, exectest.RunJob(t, f.job(t, "composer", in)), events.Failed, want)
	}
}
