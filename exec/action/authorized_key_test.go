package action_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/exec/exectest"
)

// TestKeysOfURL loads the keys of a user from a server, as github.com has them, and changes nothing if they are not there.
func TestKeysOfURL(t *testing.T) {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0pD5wzWBJ1DGPvzR5JqFtYVwLHcyrPBQxgBFkGmP0a"
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/ann.keys":
			fmt.Fprintf(w, "# none\n%s ann@laptop\n", key)
		case "/page":
			fmt.Fprint(w, "<html>log in</html>")
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys")
	given := func(name string) exectest.Args {
		return exectest.Args{"user": me.Username, "path": path, "manage_dir": false, "key": server.URL + name}
	}
	for name, says := range map[string]string{"/page": "are not public keys", "/none": "404"} {
		r := exectest.RunJob(t, exectest.NewJob(t, "authorized_key", given(name)))
		if _, err := os.Stat(path); r.Outcome != events.Failed || !strings.Contains(r.Error, says) || err == nil {
			t.Errorf("%s: %s %q", name, r.Outcome, r.Error)
		}
	}
	for _, want := range []events.Outcome{events.Changed, events.OK} {
		exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "authorized_key", given("/ann.keys"))), want, "")
		text, err := os.ReadFile(path)
		if err != nil || string(text) != key+" ann@laptop\n" {
			t.Errorf("%q, %v", text, err)
		}
	}
	if asked != 4 {
		t.Errorf("the server was asked %d times", asked)
	}
}
