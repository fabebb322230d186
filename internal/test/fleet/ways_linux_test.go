package fleet

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestChroot runs a play in a directory that is the root of a system: what it does is there and not here, and a lost connection is one.
func TestChroot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root enters a directory as the root of a system")
	}
	t.Setenv("MOON_TRUST", "true")
	f := &fleet{t: t, dir: t.TempDir()}
	t.Setenv("XDG_STATE_HOME", filepath.Join(f.dir, "state"))
	box, up := overlayRoot(t)
	f.write("hosts.ini", "box ansible_connection=chroot ansible_host="+box+"\n")
	f.write("page.j2", "{{ inventory_hostname }} has {{ ansible_facts.hostname is defined }}\n")
	out := f.play(0, `
- hosts: all
  tasks:
    - shell: echo one >> /etc/moon-box
    - copy: {content: "two\n", dest: /etc/moon-copy}
    - template: {src: page.j2, dest: /etc/moon-page}
    - stat: {path: /etc/moon-page}
      register: page
    - assert: {that: page.stat.exists}
    - copy: {content: "two\n", dest: /etc/moon-copy}
`)
	f.recap(out, "box ok=7 changed=3")
	for name, want := range map[string]string{"moon-box": "one\n", "moon-copy": "two\n", "moon-page": "box has True\n"} {
		if text, err := os.ReadFile(filepath.Join(up, "etc", name)); err != nil || string(text) != want {
			t.Errorf("%s in the box is %q, want %q: %v", name, text, want, err)
		}
		if _, err := os.Stat(filepath.Join("/etc", name)); !os.IsNotExist(err) {
			t.Errorf("%s is here: %v", name, err)
		}
	}
	// Only a trusted playbook has the directory entered before it is approved.
	t.Setenv("MOON_TRUST", "")
	if code, out := f.moon("plan", "-i", "hosts.ini", "--check", "site.yml"); code != 0 {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// overlayRoot is a directory that has all of this system in it, and a place that gets what is changed there.
func overlayRoot(t *testing.T) (root, up string) {
	t.Helper()
	dir := t.TempDir()
	mount := func(source, target, kind string, flags uintptr, data string) {
		t.Helper()
		if err := unix.Mount(source, target, kind, flags, data); err != nil {
			t.Skipf("the right to mount is missing: %s", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
	}
	mount("tmpfs", dir, "tmpfs", 0, "mode=0755")
	root, up = filepath.Join(dir, "root"), filepath.Join(dir, "up")
	for _, path := range []string{root, up, filepath.Join(dir, "inner")} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mount("overlay", root, "overlay", 0, "lowerdir=/,upperdir="+up+",workdir="+filepath.Join(dir, "inner"))
	mount("/proc", filepath.Join(root, "proc"), "", unix.MS_BIND, "")
	return root, up
}
