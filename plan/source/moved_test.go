package source

import "testing"

func TestMoved(t *testing.T) {
	m := Moved{{From: "/home/ada", To: "/tmp/job/files"}, {From: "/tmp", To: "/tmp/job/more"}}
	for path, want := range map[string]string{
		"/home/ada": "/tmp/job/files", "/home/ada/x": "/tmp/job/files/x", "/home/adam/x": "/home/adam/x", "x": "x", "": "",
		"/tmp/y": "/tmp/job/more/y", "/tmp/job/files/x": "/tmp/job/files/x", // what is here already is not moved a second time
	} {
		if got := m.Here(path); got != want {
			t.Errorf("%q is at %q, want %q", path, got, want)
		}
		if back := m.Back(want); back != path && path != "/tmp/job/files/x" {
			t.Errorf("%q was %q, and not %q", want, path, back)
		}
	}
	if got := m.Placeless("/tmp/job/files/play", "cat /tmp/job/files/play/a /tmp/job/files/b"); got != "cat /a /home/ada/b" {
		t.Errorf("placeless it is %q", got)
	}
}
