package action_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	crand "crypto/rand"
	"crypto/sha1" // as actions report it
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/spec"
	"moon/internal/assault"
)

// mal is the user who attacks root.
const mal = 65534

// TestHelper is a process of another user rather than a test.
func TestHelper(*testing.T) {
	switch os.Getenv("MOON_TEST_HELPER") {
	case "attack":
		attack()
	case "spy":
		spy()
	}
}

// attack is the helper that is mal: it swaps what is on the way to files for something else, as fast as it can, until its
// directory says that it is enough.
func attack() {
	outside := os.Getenv("MOON_TEST_OUTSIDE")
	if err := os.Chdir(os.Getenv("MOON_TEST_DIR")); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	swap := func(name string, put func() error) {
		if os.Rename(name, name+".kept") != nil {
			return
		}
		_ = put()
		for range rand.IntN(2000) { // a moment, of changing length
			_ = syscall.Getppid()
		}
		_ = os.RemoveAll(name)
		_ = os.Rename(name+".kept", name)
	}
	for {
		if _, err := os.Stat("enough"); err == nil {
			os.Exit(0)
		}
		for _, dir := range []string{"sub", "sub/deep"} {
			_ = os.MkdirAll(dir, 0o755)
			for _, target := range []string{outside, filepath.Join(outside, "deep"), "../..", "/proc/self/root" + outside} {
				swap(dir, func() error { return os.Symlink(target, dir) })
			}
		}
		for _, file := range []string{"sub/f", "sub/deep/f"} {
			if _, err := os.Lstat(file); err != nil {
				_ = os.WriteFile(file, []byte("mine\n"), 0o644)
			}
			secret := filepath.Join(outside, "f")
			swap(file, func() error { return os.Symlink(secret, file) })
			swap(file, func() error { return os.Link(secret, file) })
			swap(file, func() error { return syscall.Mkfifo(file, 0o666) })
		}
	}
}

// censusOf is all that there is in a tree.
func censusOf(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			return err
		}
		text := ""
		if st.Mode&syscall.S_IFMT == syscall.S_IFREG {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(content)
		}
		fmt.Fprintf(&b, "%s %o %d:%d %d names, %d.%d %q\n", strings.TrimPrefix(path, root), st.Mode, st.Uid, st.Gid, st.Nlink, st.Mtim.Sec, st.Mtim.Nsec, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// battlefield makes a directory of mal's, and one outside that nothing may happen to.
func battlefield(t *testing.T) (dir, outside string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can be attacked by another user")
	}
	base, err := os.MkdirTemp("", "moon-races-") //nolint:usetesting // that is below a directory which only its owner enters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	dir, outside = filepath.Join(base, "mal"), filepath.Join(base, "outside")
	for _, d := range []string{dir, filepath.Join(dir, "sub/deep"), filepath.Join(outside, "deep/tree"), filepath.Join(outside, "gone"), filepath.Join(outside, "tree")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"f", "deep/f", "gone/f", "tree/f", "deep/tree/f"} {
		if err := os.WriteFile(filepath.Join(outside, f), secretText, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{base, dir, filepath.Join(dir, "sub"), filepath.Join(dir, "sub/deep")} {
		if err := os.Chmod(d, 0o755); err != nil { // mal must get there
			t.Fatal(err)
		}
		if d != base {
			if err := os.Chown(d, mal, mal); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, outside
}

// asMal starts the helper as mal.
func asMal(t *testing.T, what, dir, outside string) *osexec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self) // mal may not go where it is
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(filepath.Dir(dir), "helper")
	if err := os.WriteFile(program, binary, 0o755); err != nil { // it is run
		t.Fatal(err)
	}
	cmd := osexec.CommandContext(context.Background(), program, "-test.run=^TestHelper$")
	cmd.Env = []string{"MOON_TEST_HELPER=" + what, "MOON_TEST_DIR=" + dir, "MOON_TEST_OUTSIDE=" + outside}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: mal, Gid: mal}}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.WriteFile(filepath.Join(dir, "enough"), nil, 0o600)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the other user: %v\n%s", err, said.String())
		}
	})
	return cmd
}

// racing is an action in the races, and what it is to do there.
type racing struct {
	action string
	in     exectest.Args
}

// tells reports whether a result has the content of a file outside, or what is known of it only to who has read it.
func (p racing) tells(r exec.Result) bool {
	if p.action == "assert" || p.action == "wait" { // which look for it, and say for what
		return r.Outcome != events.Failed
	}
	said := fmt.Sprintf("%v", r.Fields)
	if r.Diff != nil {
		said += r.Diff.Text
	}
	for _, known := range []string{"the secret", base64.StdEncoding.EncodeToString(secretText), fmt.Sprintf("%x", sha1.Sum(secretText))} { // as actions report it
		if strings.Contains(said, known) {
			return true
		}
	}
	return false
}

// secretText is the content of the files outside.
var secretText = []byte("the secret\n")

// unraced are the arguments that are paths, and are in no race, each with the reason.
var unraced = map[string]string{
	"apt_key.file": "a key that the playbook brings; read as any src", "apt_key.keyring": "apt-key itself opens it", "archive.exclude_path": "a pattern",
	"dnf.conf_file": "dnf opens it", "dnf.download_dir": "dnf writes there", "get_url.tmp_dest": "names are random there", "git.archive": "its directory is opened as any dest",
	"git.dest": "git itself works there; other users' working copies are refused", "git.key_file": "ssh opens it", "git.reference": "git opens it",
	"pip.chdir": "a directory for a process", "pip.requirements": "pip opens it", "pip.virtualenv": "pip works there", "raw.executable": "a program",
	"setup.fact_path": "the owner's of the machine", "unarchive.creates": "only looked at", "uri.creates": "only looked at", "uri.dest": "as get_url.dest",
	"uri.removes": "only looked at", "uri.src": "as copy.src", "uri.unix_socket": "a connection", "user.home": "useradd works there",
	"user.shell": "a word", "user.skeleton": "useradd reads it", "command.creates": "only looked at", "command.removes": "only looked at", "command.chdir": "a directory for a process",
	"shell.creates": "only looked at", "shell.removes": "only looked at", "shell.chdir": "a directory for a process",
	"script.creates": "only looked at", "script.removes": "only looked at", "script.chdir": "a directory for a process",
	"get_url.ca_path": "certificates of the user's own", "get_url.client_cert": "likewise", "get_url.client_key": "likewise",
	"alternatives.link": "update-alternatives works there", "alternatives.path": "a word",
	"git_config.file": "git opens it", "git_config.repo": "a directory for a process",
	"docker_container.env_file": "read as any src", "docker_image.load_path": "read as any src", "docker_image.archive_path": "written as get_url.dest",
	"docker_login.config_path": "read as any src, and docker itself writes it",
	"yum_repository.reposdir":  "the directory that holds the files, which are edited as any other",
	"composer.working_dir":     "composer itself works there", "git.separate_git_dir": "git works there, and no one else's directory is taken",
	"npm.path": "npm itself works there", "mysql_db.target": "its dump is written as get_url.dest, and a regular file is opened once to be read", "mysql_db.chdir": "a directory for a process",
	"synchronize.src": "rsync itself works there, as it does for whoever starts it", "synchronize.dest": "likewise", "synchronize.private_key": "ssh opens it",
	"uri.ca_path": "certificates of the user's own", "uri.client_cert": "likewise", "uri.client_key": "likewise",
}

// openedByClient are arguments of what works on databases and containers: a client, which is another program, opens them.
var openedByClient = map[string]bool{
	"login_unix_socket": true, "config_file": true, "client_cert": true, "client_key": true, "ca_cert": true, "ca_path": true, "ssl_cert": true, "ssl_key": true,
}

// checkRaced has every argument that is a path take part in the races, or say why not.
func checkRaced(t *testing.T, plays []racing) {
	t.Helper()
	raced := map[string]bool{}
	for _, p := range plays {
		for name := range p.in {
			raced[p.action+"."+name] = true
		}
	}
	for _, a := range spec.All() {
		for _, f := range a.Fields() {
			if f.Kind != spec.Path && f.Kind != spec.Paths {
				continue
			}
			name := a.Name + "." + f.Name
			if clients := strings.HasPrefix(a.Name, "mysql_") || strings.HasPrefix(a.Name, "postgresql_") || strings.HasPrefix(a.Name, "docker_"); clients && openedByClient[f.Name] {
				continue
			}
			if raced[name] == (unraced[name] != "") {
				t.Errorf("%s is raced: %v, and excused: %q", name, raced[name], unraced[name])
			}
		}
	}
}

// TestRaces has root work in a directory of somebody who swaps everything on the way: nothing outside of it is read or
// changed, and nothing waits for a pipe. An assault plays 17,900 rounds.
func TestRaces(t *testing.T) {
	dir, outside := battlefield(t)
	tree := t.TempDir()
	for _, name := range []string{"tree/f", "tree/more/g"} {
		path := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("root's\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	template := filepath.Join(tree, "t.j2")
	if err := os.WriteFile(template, []byte("root's\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := censusOf(t, outside)
	asMal(t, "attack", dir, outside)
	at := func(name string) string { return filepath.Join(dir, name) }
	took := filepath.Join(t.TempDir(), "took")
	key := filepath.Join(tree, "own.key")
	_, private, err := ed25519.GenerateKey(crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	patch := filepath.Join(tree, "p.patch")
	if err := os.WriteFile(patch, []byte("--- f\n+++ f\n@@ -1 +1 @@\n-mine\n+yours\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(tree, "a.tar")
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "archive", exectest.Args{"path": tree + "/tree", "dest": archive, "format": "tar"})), events.Changed, "")
	url := "file://" + template
	plays := []racing{
		{"file", exectest.Args{"path": at("sub/f"), "content": "root's\n", "mode": "0644"}},
		{"file", exectest.Args{"path": at("sub/deep/f"), "state": "perms", "mode": "0666", "owner": "65534"}},
		{"file", exectest.Args{"path": at("sub/f"), "state": "touch", "mode": "0664"}},
		{"file", exectest.Args{"path": at("sub"), "state": "directory", "recurse": true, "mode": "0777", "owner": "65534", "group": "65534"}},
		{"file", exectest.Args{"path": at("sub/deep/tree"), "state": "absent"}},
		{"file", exectest.Args{"path": at("sub/gone"), "state": "absent"}},
		{"file", exectest.Args{"path": at("sub/a/b/c"), "state": "directory", "owner": "65534"}},
		{"file", exectest.Args{"path": at("sub/a"), "state": "absent"}},
		{"file", exectest.Args{"path": at("sub/hard"), "src": at("sub/f"), "state": "hard", "force": true}},
		{"copy", exectest.Args{"content": "root's\n", "dest": at("sub/deep/f"), "backup": true}},
		{"copy", exectest.Args{"src": tree + "/tree", "dest": at("sub"), "owner": "65534"}},
		{"copy", exectest.Args{"src": tree + "/tree", "dest": at("sub/deep/")}},
		{"copy", exectest.Args{"src": at("sub/f"), "dest": took}},
		{"copy", exectest.Args{"src": at("sub/"), "dest": took + ".d"}},
		{"template", exectest.Args{"src": template, "dest": at("sub/f"), "mode": "0600", "owner": "65534"}},
		{"lineinfile", exectest.Args{"path": at("sub/f"), "line": "root's too", "create": true}},
		{"replace", exectest.Args{"path": at("sub/deep/f"), "regexp": "e", "replace": "E"}},
		{"stat", exectest.Args{"path": at("sub/f"), "checksum": "sha1"}},
		{"stat", exectest.Args{"path": at("sub/deep/f"), "follow": true, "get_mime": true}},
		{"slurp", exectest.Args{"src": at("sub/f")}},
		{"slurp", exectest.Args{"src": at("sub/deep/f")}},
		{"find", exectest.Args{"paths": at("sub"), "recurse": true, "hidden": true, "contains": ".*secret.*"}},
		{"find", exectest.Args{"paths": at("sub/deep"), "recurse": true, "follow": true, "get_checksum": true}},
		{"tempfile", exectest.Args{"path": at("sub/deep")}},
		{"tempfile", exectest.Args{"path": at("sub"), "state": "directory"}},
		{"fetch", exectest.Args{"src": at("sub/f"), "dest": took + ".f/", "flat": true}},
		{"archive", exectest.Args{"path": at("sub"), "dest": took + ".tar", "format": "tar"}},
		{"archive", exectest.Args{"path": tree + "/tree", "dest": at("sub/deep/a.tar"), "format": "tar"}},
		{"unarchive", exectest.Args{"src": archive, "dest": at("sub/deep"), "remote_src": true}},
		{"unarchive", exectest.Args{"src": at("sub/a.tar"), "dest": took + ".u", "remote_src": true}},
		{"assemble", exectest.Args{"src": at("sub"), "dest": took + ".a", "remote_src": true}},
		{"assemble", exectest.Args{"src": tree + "/tree", "dest": at("sub/f"), "remote_src": true}},
		{"assert", exectest.Args{"file": exectest.Args{"path": at("sub/f"), "contains": "the secret"}}},
		{"authorized_key", exectest.Args{"user": "nobody", "path": at("sub/f"), "manage_dir": false, "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA x"}},
		{"blockinfile", exectest.Args{"path": at("sub/deep/f"), "block": "root's", "create": true}},
		{"get_url", exectest.Args{"url": url, "dest": at("sub/f"), "force": true}},
		{"ini_file", exectest.Args{"path": at("sub/f"), "section": "root", "option": "a", "value": "b", "backup": true}},
		{"mount", exectest.Args{"path": "/nowhere/moon", "src": "tmpfs", "fstype": "tmpfs", "state": "present", "fstab": at("sub/deep/f")}},
		{"openssl_privatekey", exectest.Args{"path": at("sub/deep/f"), "type": "Ed25519", "force": true, "backup": true}},
		{"openssl_publickey", exectest.Args{"path": at("sub/f"), "privatekey_path": key, "force": true}},
		{"openssl_publickey", exectest.Args{"path": took + ".pub", "privatekey_path": at("sub/deep/f")}},
		{"openssl_csr", exectest.Args{"path": at("sub/deep/f"), "privatekey_path": key, "common_name": "h.example", "force": true, "backup": true}},
		{"openssl_csr", exectest.Args{"path": took + ".csr", "privatekey_path": at("sub/f"), "common_name": "h.example"}},
		{"x509_certificate", exectest.Args{"path": at("sub/f"), "privatekey_path": key, "provider": "selfsigned", "force": true}},
		{"x509_certificate", exectest.Args{"path": took + ".crt", "privatekey_path": at("sub/deep/f"), "provider": "selfsigned"}},
		{"x509_certificate", exectest.Args{
			"path": at("sub/deep/f"), "provider": "ownca", "csr_path": at("sub/f"), "ownca_path": at("sub/deep/f"), "ownca_privatekey_path": at("sub/f"),
		}},
		{"known_hosts", exectest.Args{"path": at("sub/deep/f"), "name": "h.example", "state": "absent"}},
		{"patch", exectest.Args{"src": patch, "dest": at("sub/f"), "remote_src": true}},
		{"patch", exectest.Args{"src": at("sub/deep/f"), "basedir": at("sub"), "remote_src": true}},
		{"sysctl", exectest.Args{"name": "kernel.moon_no_such", "value": "1", "sysctl_file": at("sub/f"), "reload": false}},
		{"wait", exectest.Args{"path": at("sub/f"), "search_regex": "the secret", "timeout": "0s"}},
	}
	checkRaced(t, plays)
	outcomes := map[events.Outcome]int{}
	refused := map[string]int{}
	n := assault.Rounds(2000, 17_900)
	assault.Tried(t, "races for each part of a path", n)
	for i := range n {
		play := plays[i%len(plays)]
		a, _ := spec.Lookup(play.action)
		decoded, ds := a.Decode(play.in)
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		r := exec.Local{}.Run(ctx, &exec.Job{Action: play.action, Args: decoded, Raw: play.in, Cwd: "/", Diff: true, Output: steplog.NewDiscard(), Names: exectest.Names{}})
		cancel()
		outcomes[r.Outcome]++
		if r.Outcome == events.Timeout || r.Outcome == events.Cancelled {
			t.Fatalf("%s %v: it waits: %+v", play.action, play.in, r)
		}
		for _, why := range []string{"a link of another user", "changes it at the same time", "has 2 names"} {
			if strings.Contains(r.Error, why) {
				refused[why]++
			}
		}
		if play.tells(r) {
			t.Fatalf("%s %v: it tells the secret: %+v", play.action, play.in, r)
		}
		if now := censusOf(t, outside); now != before {
			t.Fatalf("%s %v: round %d got out\n%s\nbefore\n%s", play.action, play.in, i, now, before)
		}
	}
	for _, path := range []string{took, took + ".d"} {
		err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if strings.Contains(string(content), "secret") {
				t.Errorf("%s took the secret", path)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if outcomes[events.Changed] == 0 || refused["a link of another user"] == 0 {
		t.Errorf("there was no race: %v, %v", outcomes, refused)
	}
	t.Log(outcomes, refused)
}

// spy is the helper that is mal and reads all that appears in a directory.
func spy() {
	dir, enough := os.Getenv("MOON_TEST_OUTSIDE"), filepath.Join(os.Getenv("MOON_TEST_DIR"), "enough")
	for n := 0; ; n++ {
		if _, err := os.Stat(enough); err == nil {
			os.Exit(0)
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && bytes.Contains(text, []byte("secret")) {
				fmt.Printf("round %d: %s could be read\n", n, e.Name())
				os.Exit(1)
			}
		}
	}
}

// TestNobodyReadsAhead writes secrets where others look on: from its first byte on a file has its mode and its owner.
func TestNobodyReadsAhead(t *testing.T) {
	dir, outside := battlefield(t)
	for _, f := range []string{"f", "open"} {
		if err := os.WriteFile(filepath.Join(outside, f), []byte("nothing\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	asMal(t, "spy", dir, outside)
	n := assault.Rounds(200, 2000)
	assault.Tried(t, "files written in front of another user", 2*n)
	for i := range n {
		for _, f := range []string{"new", "open"} {
			path := filepath.Join(outside, f)
			job := exectest.NewJob(t, "copy", exectest.Args{"content": fmt.Sprintf("the secret %d\n", i), "dest": path, "mode": "0640", "owner": "1", "group": "1"})
			exectest.WantOutcome(t, exectest.RunJob(t, job), events.Changed, "")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if f == "open" {
				if err := os.WriteFile(path, []byte("nothing\n"), 0o644); err != nil { // all may read it
					t.Fatal(err)
				}
			}
		}
	}
}

// TestWaysOfOthers walks over links and names that other users have made.
func TestWaysOfOthers(t *testing.T) {
	dir, outside := battlefield(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	link := func(target, name string, owner int) {
		if err := errors.Join(os.Symlink(target, at(name)), os.Lchown(at(name), owner, owner)); err != nil {
			t.Fatal(err)
		}
	}
	link("sub", "own", mal)
	link(outside, "trap", mal)
	link("own/../../outside", "dots", mal)
	link(outside, "roots", 0) // in a directory in which mal may put another in its place
	link("sub/f", "file", mal)
	link(filepath.Join(outside, "f"), "trapfile", mal)
	link(filepath.Join(outside, "new"), "dangling", mal)
	link("round", "round", mal)
	if err := os.Symlink(at("sub"), filepath.Join(outside, "way")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "deep"), filepath.Join(outside, "inner")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(outside, "f"), at("hard")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "sub/pipe"} {
		if err := syscall.Mkfifo(at(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const trap, names = "it is a link of another user", "it has 2 names"
	tests := []struct {
		action  string
		in      exectest.Args
		outcome events.Outcome
		err     string
	}{
		{"copy", exectest.Args{"content": "x", "dest": at("own/f"), "owner": "65534"}, events.Changed, ""},
		{"copy", exectest.Args{"content": "x", "dest": filepath.Join(outside, "way/g")}, events.Changed, ""},
		{"copy", exectest.Args{"content": "x", "dest": filepath.Join(outside, "inner/g")}, events.Changed, ""},
		{"lineinfile", exectest.Args{"path": at("file"), "line": "y"}, events.Changed, ""},
		{"copy", exectest.Args{"content": "x", "dest": at("trap/g")}, events.Failed, trap},
		{"copy", exectest.Args{"content": "x", "dest": at("dots/g")}, events.Failed, trap},
		{"copy", exectest.Args{"content": "x", "dest": at("roots/g")}, events.Failed, trap},
		{"copy", exectest.Args{"src": at("sub/f"), "dest": at("trap") + "/"}, events.Failed, trap},
		{"copy", exectest.Args{"src": at("trapfile"), "dest": at("taken")}, events.Failed, trap},
		{"copy", exectest.Args{"src": at("trap/f"), "dest": at("taken")}, events.Failed, trap},
		{"copy", exectest.Args{"src": at("trap") + "/", "dest": at("taken")}, events.Failed, trap},
		{"copy", exectest.Args{"content": "x", "dest": at("round/g")}, events.Failed, "too many levels"},
		{"lineinfile", exectest.Args{"path": at("trapfile"), "line": "x"}, events.Failed, trap},
		{"lineinfile", exectest.Args{"path": at("dangling"), "line": "x", "create": true}, events.Failed, trap},
		{"file", exectest.Args{"path": at("dangling"), "content": "x"}, events.Failed, trap},
		{"file", exectest.Args{"path": at("trap/sub/deep"), "state": "directory"}, events.Failed, trap},
		{"file", exectest.Args{"path": at("trap/gone"), "state": "absent"}, events.Failed, trap},
		{"file", exectest.Args{"path": at("trap"), "state": "directory", "mode": "0777"}, events.Failed, trap},
		{"file", exectest.Args{"path": at("hard"), "state": "perms", "mode": "0666"}, events.Failed, names},
		{"file", exectest.Args{"path": at("hard"), "state": "touch"}, events.Failed, names},
		{"file", exectest.Args{"path": at(""), "state": "directory", "recurse": true, "owner": "65534"}, events.Failed, names},
		{"copy", exectest.Args{"content": "x", "dest": at("hard")}, events.Changed, ""}, // another file takes its place
		{"copy", exectest.Args{"content": "x", "dest": at("pipe")}, events.Failed, "neither a file nor a directory"},
		{"copy", exectest.Args{"src": at("pipe"), "dest": at("taken")}, events.Failed, "neither a file nor a directory"},
		{"template", exectest.Args{"src": at("pipe"), "dest": at("taken")}, events.Failed, "not a regular file"},
		{"lineinfile", exectest.Args{"path": at("pipe"), "line": "x"}, events.Failed, "neither a file nor a directory"},
		{"stat", exectest.Args{"path": at("pipe"), "checksum": "sha1"}, events.OK, ""},
		{"assert", exectest.Args{"file": exectest.Args{"path": at("pipe"), "contains": "x"}}, events.Failed, "not a regular file"},
		{"file", exectest.Args{"path": at("sub"), "state": "directory", "recurse": true, "mode": "u+x"}, events.Changed, ""},
		{"file", exectest.Args{"path": at("trap"), "state": "absent"}, events.Changed, ""}, // the link, and not what it leads to
	}
	before := censusOf(t, filepath.Join(outside, "tree")) + censusOf(t, filepath.Join(outside, "gone"))
	for _, tt := range tests {
		r := exectest.RunJob(t, exectest.NewJob(t, tt.action, tt.in))
		if r.Outcome != tt.outcome || !strings.Contains(r.Error, tt.err) {
			t.Errorf("%s %v: %+v, want %s %q", tt.action, tt.in, r, tt.outcome, tt.err)
		}
	}
	if now := censusOf(t, filepath.Join(outside, "tree")) + censusOf(t, filepath.Join(outside, "gone")); now != before {
		t.Errorf("outside is\n%s\nbefore\n%s", now, before)
	}
	for _, name := range []string{"new", "g", "sub"} {
		if _, err := os.Lstat(filepath.Join(outside, name)); err == nil {
			t.Errorf("%s was made outside", name)
		}
	}
	if text, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(text) != "the secret\n" {
		t.Errorf("the file with two names has become %q %v", text, err)
	}
}
