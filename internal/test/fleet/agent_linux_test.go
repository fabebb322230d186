package fleet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"moon/internal/assault"
)

// evilAgent is a program in the place of the moon that a host keeps.
func evilAgent(f *fleet) string {
	return "#!/bin/sh\necho evil \"$@\" >>" + f.servers[0].Home + "/log\nprintf 'moon agent\\n'\n"
}

// keptAgent is the moon that a host keeps, once a step has brought it there: a file of its own, which can be changed.
func (f *fleet) keptAgent(site string) string {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.servers[0].Home, ".cache")); err != nil {
		f.t.Fatal(err)
	}
	f.recap(f.play(0, site), "web1 ok=1 changed=1")
	kept := f.servers[0].Kept(f.t)
	if len(kept) != 1 {
		f.t.Fatalf("%v", kept)
	}
	return kept[0]
}

const oneStep = "- hosts: web\n  gather_facts: false\n  tasks:\n    - shell: echo step >>~/log\n"

// TestFleetAgentVerified finds another program than it has sent on a host, or one that others could change: it is not run, the step
// runs once all the same, and it is said.
func TestFleetAgentVerified(t *testing.T) {
	assault.Long(t)
	if os.Getuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	f := newFleet(t, 1)
	home := f.servers[0].Home
	tmp := filepath.Join(home, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	f.servers[0].Setenv(t, "TMPDIR", tmp)
	kept := f.keptAgent(oneStep)
	good, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	changed, others := "is not what was sent there", "belongs to another user, or others may write to it"
	for _, tt := range []struct {
		name   string
		tamper func() error
		says   string
		stays  bool // what is there is left alone
	}{
		{"a bit flipped", func() error {
			bad := bytes.Clone(good)
			bad[len(bad)/2] ^= 1
			return os.WriteFile(kept, bad, 0o700)
		}, changed, false},
		{"a script", func() error { return os.WriteFile(kept, []byte(evilAgent(f)), 0o700) }, changed, false},
		{"cut", func() error { return os.Truncate(kept, 1000) }, changed, false},
		{"of another user", func() error { return os.Chown(kept, nobody, nobody) }, others, false},
		{"writable by others", func() error { return os.Chmod(kept, 0o707) }, others, false},
		{"writable by a group", func() error { return os.Chmod(kept, 0o770) }, others, false},
		{"a directory that is writable by others", func() error { return os.Chmod(filepath.Dir(kept), 0o777) }, others, false},
		{"a directory of another user", func() error { return os.Chown(filepath.Dir(kept), nobody, nobody) }, others, false},
		{"a link to a directory of another user", func() error {
			at := filepath.Join(home, "elsewhere")
			if err := os.Rename(filepath.Dir(kept), at); err != nil {
				return err
			}
			if err := os.Chown(at, nobody, nobody); err != nil {
				return err
			}
			return os.Symlink(at, filepath.Dir(kept))
		}, others, false},
		{"a cache that is writable by others", func() error { return os.Chmod(filepath.Dir(filepath.Dir(kept)), 0o777) }, others, true},
		{"a cache of another user", func() error { return os.Chown(filepath.Dir(filepath.Dir(kept)), nobody, nobody) }, others, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := *f
			f.t = t
			if err := os.Remove(filepath.Join(home, "log")); err != nil {
				t.Fatal(err)
			}
			if err := tt.tamper(); err != nil {
				t.Fatal(err)
			}
			out := f.play(0, oneStep)
			f.recap(out, "web1 ok=1 changed=1")
			if !strings.Contains(strings.Join(strings.Fields(out), " "), tt.says) {
				t.Errorf("nothing is said of it\n%s", out)
			}
			f.has(1, "log", "step\n")
			if tt.stays {
				cache := filepath.Dir(filepath.Dir(kept))
				if err := os.Chown(cache, 0, 0); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(cache, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("%v are left, %v", left, err)
			}
			// The next finds a good one, or brings it, and says no more.
			if out := f.play(0, oneStep); strings.Contains(out, "WARNING") {
				t.Error(out)
			}
			if now, err := os.ReadFile(kept); err != nil || !bytes.Equal(now, good) {
				t.Errorf("what is kept now is not what was sent, %v", err)
			}
			f.has(1, "log", "step\nstep\n")
		})
	}
}

// TestRaceKeptAgent swaps the moon that a host keeps for another program while moon connects. The other never runs, and each
// step runs once. ASSAULT=all plays 120 rounds.
func TestRaceKeptAgent(t *testing.T) {
	assault.Long(t)
	rounds := assault.Rounds(2, 120)
	assault.Tried(t, "kept agents of hosts swapped", rounds)
	f := newFleet(t, 1)
	kept := f.keptAgent(oneStep)
	dir := filepath.Dir(kept)
	for name, text := range map[string]string{"evil": evilAgent(f), "good": ""} {
		data := []byte(text)
		if text == "" {
			var err error
			if data, err = os.ReadFile(kept); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(dir, "next")
			_ = os.Remove(next) // what moon removes meanwhile is not swapped
			if os.Link(filepath.Join(dir, []string{"evil", "good"}[i%2]), next) == nil {
				_ = os.Rename(next, kept)
			}
			if i%2 == 0 { // as others may not write to it, it is the user's own doing: both are swapped as fast as that goes
				_ = os.Remove(kept)
				_ = os.Link(filepath.Join(dir, "evil"), kept)
			}
			if _, err := os.Stat(filepath.Join(dir, "evil")); err != nil { // the directory was removed with all that was in it
				_ = os.MkdirAll(dir, 0o700)
				_ = os.WriteFile(filepath.Join(dir, "evil"), []byte(evilAgent(f)), 0o700)
			}
		}
	})
	for range rounds {
		f.recap(f.play(0, oneStep), "web1 ok=1 changed=1")
	}
	close(stop)
	swapping.Wait()
	log, err := os.ReadFile(filepath.Join(f.servers[0].Home, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("step\n", rounds+1); string(log) != want {
		t.Errorf("the log has %d lines and %d of the other program, want %d and 0", strings.Count(string(log), "\n"), strings.Count(string(log), "evil"), rounds+1)
	}
	fmt.Fprintf(t.Output(), "%d rounds\n", rounds)
}
