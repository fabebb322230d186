package action_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"moon/events"
	"moon/exec/exectest"
)

// No test here sets anything in the machine's own kernel; TestActions does that in name spaces.

func TestSysctlFile(t *testing.T) {
	needsLinux(t)
	for _, tt := range []struct {
		old, now, says string
		in             exectest.Args
	}{
		{"", "kernel.ostype=x\n", "line added", exectest.Args{"value": "x"}},
		{"kernel.ostype = y\nkernel.ostype=z\n", "kernel.ostype=x\n", "z → x", exectest.Args{"value": "x"}},
		{"kernel.ostype=x\nkernel/ostype = y", "kernel/ostype = x", "y → x", exectest.Args{"value": "x"}},
		{"kernel.ostype=y\nkernel.ostype=x\n", "kernel.ostype=x\n", "line removed", exectest.Args{"value": "x"}},
		{"#kernel.ostype=y\n;kernel.ostype=y\nkernel.ostype\n", "#kernel.ostype=y\n;kernel.ostype=y\nkernel.ostype\nkernel.ostype=x\n", "line added", exectest.Args{"value": "x"}},
		{"a.b=1\n-kernel.ostype=y\nkernel.ostype = z\n", "a.b=1\n", "line removed", exectest.Args{"state": "absent"}},
	} {
		path := filepath.Join(t.TempDir(), "f")
		exectest.WriteFile(t, path, tt.old, 0o644)
		in := exectest.Args{"name": "kernel.ostype", "sysctl_file": path, "reload": false}
		maps.Copy(in, tt.in)
		r := exectest.RunJob(t, exectest.NewJob(t, "sysctl", in))
		exectest.WantOutcome(t, r, events.Changed, "")
		if got := exectest.ReadFile(t, path); got != tt.now || r.Diff.Summary != tt.says {
			t.Errorf("%q became %q, %s; want %q, %s", tt.old, got, r.Diff.Summary, tt.now, tt.says)
		}
		if r := exectest.RunJob(t, exectest.NewJob(t, "sysctl", in)); r.Outcome != events.OK {
			t.Errorf("%q changed again: %+v", tt.now, r.Diff)
		}
	}
}

func TestSysctlKernel(t *testing.T) {
	needsLinux(t)
	path := filepath.Join(t.TempDir(), "f")
	is, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	in := exectest.Args{"name": "kernel.hostname", "value": is, "sysctl_file": path, "sysctl_set": true}
	r := exectest.RunJob(t, exectest.NewJob(t, "sysctl", in))
	exectest.WantOutcome(t, r, events.Changed, "")
	if r.Diff.Summary != fmt.Sprintf("new file, %d bytes", len("kernel.hostname=\n")+len(is)) || r.Fields["value"] != is || r.Diff.Kind != events.ChangeCreate {
		t.Errorf("%+v, %v", r.Diff, r.Fields)
	}
	r = exectest.RunJob(t, exectest.NewJob(t, "sysctl", exectest.Args{"name": "net.nothing.such", "value": 1, "sysctl_file": path}))
	exectest.WantOutcome(t, r, events.Failed, "the kernel has no net.nothing.such; a module may have to be loaded first, or let it pass with ignoreerrors: true")
	// Read-only: nobody can set it.
	in = exectest.Args{"name": "kernel.ostype", "value": "Other", "sysctl_file": path}
	diff, err := exectest.PredictJob(t, exectest.NewJob(t, "sysctl", in))
	if err != nil || diff.Summary != "line added, in effect Linux → Other" {
		t.Errorf("it would do %+v, %v", diff, err)
	}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "sysctl", in)), events.Failed, "the kernel does not take kernel.ostype = Other: ")
	in["name"], in["sysctl_set"], in["ignoreerrors"] = "kernel/ostype", true, true
	if r = exectest.RunJob(t, exectest.NewJob(t, "sysctl", in)); r.Outcome != events.Changed || len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestHostnamectl(t *testing.T) {
	needsLinux(t)
	f := fake(t, map[string]string{"hostnamectl": ""})
	in := exectest.Args{"name": "moon-test", "use": "systemd"}
	diff, err := exectest.PredictJob(t, f.job(t, "hostname", in))
	if err != nil || diff.Kind != events.ChangeUpdate || f.calls(t) != "" {
		t.Errorf("it would do %+v, %v", diff, err)
	}
	r := exectest.RunJob(t, f.job(t, "hostname", in))
	exectest.WantOutcome(t, r, events.Changed, "")
	if got := f.calls(t); got != "hostnamectl [set-hostname] [moon-test]" || *r.Diff != diff {
		t.Errorf("calls %s, it did %+v", got, r.Diff)
	}
	f = fake(t, map[string]string{"hostnamectl": "echo 'Could not set static hostname: Access denied' >&2; exit 1"})
	exectest.WantOutcome(t, exectest.RunJob(t, f.job(t, "hostname", in)), events.Failed, "hostnamectl: Could not set static hostname: Access denied")
}
