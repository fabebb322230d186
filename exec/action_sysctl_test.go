package exec_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"moon/events"
)

// No test here sets anything in the machine's own kernel; TestActions does that in name spaces.

func TestSysctlFile(t *testing.T) {
	needsLinux(t)
	for _, tt := range []struct {
		old, now, says string
		in             args
	}{
		{"", "kernel.ostype=x\n", "line added", args{"value": "x"}},
		{"kernel.ostype = y\nkernel.ostype=z\n", "kernel.ostype=x\n", "z → x", args{"value": "x"}},
		{"kernel.ostype=x\nkernel/ostype = y", "kernel/ostype = x", "y → x", args{"value": "x"}},
		{"kernel.ostype=y\nkernel.ostype=x\n", "kernel.ostype=x\n", "line removed", args{"value": "x"}},
		{"#kernel.ostype=y\n;kernel.ostype=y\nkernel.ostype\n", "#kernel.ostype=y\n;kernel.ostype=y\nkernel.ostype\nkernel.ostype=x\n", "line added", args{"value": "x"}},
		{"a.b=1\n-kernel.ostype=y\nkernel.ostype = z\n", "a.b=1\n", "line removed", args{"state": "absent"}},
	} {
		path := filepath.Join(t.TempDir(), "f")
		write(t, path, tt.old, 0o644)
		in := args{"name": "kernel.ostype", "sysctl_file": path, "reload": false}
		maps.Copy(in, tt.in)
		r := run(t, newJob(t, "sysctl", in))
		want(t, r, events.Changed, "")
		if got := read(t, path); got != tt.now || r.Diff.Summary != tt.says {
			t.Errorf("%q became %q, %s; want %q, %s", tt.old, got, r.Diff.Summary, tt.now, tt.says)
		}
		if r := run(t, newJob(t, "sysctl", in)); r.Outcome != events.OK {
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
	in := args{"name": "kernel.hostname", "value": is, "sysctl_file": path, "sysctl_set": true}
	r := run(t, newJob(t, "sysctl", in))
	want(t, r, events.Changed, "")
	if r.Diff.Summary != fmt.Sprintf("new file, %d bytes", len("kernel.hostname=\n")+len(is)) || r.Fields["value"] != is || r.Diff.Kind != events.ChangeCreate {
		t.Errorf("%+v, %v", r.Diff, r.Fields)
	}
	r = run(t, newJob(t, "sysctl", args{"name": "net.nothing.such", "value": 1, "sysctl_file": path}))
	want(t, r, events.Failed, "the kernel has no net.nothing.such; a module may have to be loaded first, or let it pass with ignoreerrors: true")
	// Read-only: nobody can set it.
	in = args{"name": "kernel.ostype", "value": "Other", "sysctl_file": path}
	diff, err := check(t, newJob(t, "sysctl", in))
	if err != nil || diff.Summary != "line added, in effect Linux → Other" {
		t.Errorf("it would do %+v, %v", diff, err)
	}
	want(t, run(t, newJob(t, "sysctl", in)), events.Failed, "the kernel does not take kernel.ostype = Other: ")
	in["name"], in["sysctl_set"], in["ignoreerrors"] = "kernel/ostype", true, true
	if r = run(t, newJob(t, "sysctl", in)); r.Outcome != events.Changed || len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestHostnamectl(t *testing.T) {
	needsLinux(t)
	f := fake(t, map[string]string{"hostnamectl": ""})
	in := args{"name": "moon-test", "use": "systemd"}
	diff, err := check(t, f.job(t, "hostname", in))
	if err != nil || diff.Kind != events.ChangeUpdate || f.calls(t) != "" {
		t.Errorf("it would do %+v, %v", diff, err)
	}
	r := run(t, f.job(t, "hostname", in))
	want(t, r, events.Changed, "")
	if got := f.calls(t); got != "hostnamectl [set-hostname] [moon-test]" || *r.Diff != diff {
		t.Errorf("calls %s, it did %+v", got, r.Diff)
	}
	f = fake(t, map[string]string{"hostnamectl": "echo 'Could not set static hostname: Access denied' >&2; exit 1"})
	want(t, run(t, f.job(t, "hostname", in)), events.Failed, "hostnamectl: Could not set static hostname: Access denied")
}
