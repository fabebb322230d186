package action_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/exec/exectest"
	"moon/exec/fault"
)

const commitA, commitB = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

// fakeGit answers as git does for a repository whose branch main is at commitB.
const fakeGit = `case "$*" in
*ls-remote*) printf 'ref: refs/heads/main\tHEAD\n` + commitB + `\tHEAD\n` + commitB + `\trefs/heads/main\n' ;;
*clone*) for dest; do :; done; mkdir -p "$dest/.git"; env | grep '^GIT_ASK\|^GIT_SSH_\|^GIT_TER\|^MOON_GIT' | sort > ${0%/*}/env ;;
*rev-parse*) echo ` + commitB + ` ;;
*config*) echo https://ann:geheim@example.com/x.git ;;
esac`

func TestGitHidesPasswords(t *testing.T) {
	f := fake(t, map[string]string{"git": fakeGit})
	dest := filepath.Join(t.TempDir(), "a", "b")
	in := exectest.Args{"repo": "https://ann:ge%3Aheim@example.com:8443/x.git", "dest": dest, "key_file": "/k e'y", "accept_newhostkey": true, "ssh_opts": "-p 22"}
	diff, err := exectest.PredictJob(t, f.job(t, "git", in))
	if err != nil || diff.Kind != events.ChangeCreate || diff.Summary != "clone https://example.com:8443/x.git, bbbbbbb (main)" {
		t.Errorf("it would do %+v, %v", diff, err)
	}
	r := exectest.RunJob(t, f.job(t, "git", in))
	exectest.WantOutcome(t, r, events.Changed, "")
	if r.Fields["before"] != nil || r.Fields["after"] != commitB {
		t.Errorf("%v", r.Fields)
	}
	calls := f.calls(t)
	if strings.Contains(calls, "heim") || !strings.Contains(calls, "[clone] [--origin] [origin] [--] [https://ann@example.com:8443/x.git] ["+dest+"]") ||
		!strings.Contains(calls, "[credential.https://example.com:8443.helper=]") {
		t.Errorf("calls\n%s", calls)
	}
	ssh := `ssh -o BatchMode=yes -o IdentitiesOnly=yes -i '/k e'\''y' -o StrictHostKeyChecking=accept-new -p 22`
	wantEnv := "GIT_ASKPASS=\nGIT_SSH_COMMAND=" + ssh + "\nGIT_TERMINAL_PROMPT=0\nMOON_GIT_PASSWORD=ge:heim\nMOON_GIT_USER=ann\n"
	if env := exectest.ReadFile(t, filepath.Join(f.dir, "env")); env != wantEnv {
		t.Errorf("environment\n%s\nwant\n%s", env, wantEnv)
	}

	// A working copy that was cloned by something else has the password in its configuration.
	in["repo"] = "https://ann:geheim@example.com/x.git"
	r = exectest.RunJob(t, f.job(t, "git", in))
	exectest.WantOutcome(t, r, events.Changed, "")
	if r.Diff.Summary != "password removed from remote origin" || !strings.Contains(f.calls(t), "[remote] [set-url] [origin] [https://ann@example.com/x.git]") {
		t.Errorf("%+v", r.Diff)
	}
}

func TestGitFailures(t *testing.T) {
	dir := t.TempDir()
	exectest.WriteFile(t, filepath.Join(dir, "full/file"), "x", 0o644)
	if err := os.MkdirAll(filepath.Join(dir, "copy/.git"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		script string
		in     exectest.Args
		class  string
		says   string
	}{
		{"network", "echo 'fatal: unable to access '\\''https://x/'\\'': Could not resolve host: x' >&2; exit 128", exectest.Args{}, fault.Transient, "git: fatal: unable to access 'https://x/': Could not resolve host: x"},
		{"login", "printf 'Warning: x\\nfatal: could not read Username\\n\\nPlease make sure\\n' >&2; exit 128", exectest.Args{}, fault.Fatal, "git: fatal: could not read Username"},
		{"in the way", fakeGit, exectest.Args{"dest": filepath.Join(dir, "full")}, fault.Fatal, "is not a git repository, and not empty; move its contents away"},
		{"no version", fakeGit, exectest.Args{"version": "nope"}, fault.Fatal, "repo https://x/ has no branch, tag or commit nope"},
		{"no repo", fakeGit, exectest.Args{"repo": "/nowhere/x"}, fault.Fatal, "repo /nowhere/x does not exist"},
		{"no commit", "exit 0", exectest.Args{}, fault.Fatal, "repo https://x/ has no commit yet"},
		{"modified", "case \"$*\" in *status*) echo ' M a'; echo ' M b';; esac\n" + fakeGit, exectest.Args{"dest": filepath.Join(dir, "copy")}, fault.Fatal, "has 2 files with changes of its own; force: true throws them away"},
		{"owner", "case \"$*\" in *rev-parse*) echo 'fatal: detected dubious ownership in repository' >&2; exit 128;; esac\n" + fakeGit, exectest.Args{"dest": filepath.Join(dir, "copy")}, fault.Fatal, "belongs to another user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := fake(t, map[string]string{"git": tt.script})
			in := exectest.Args{"repo": "https://x/", "dest": filepath.Join(dir, "new")}
			maps.Copy(in, tt.in)
			r := exectest.RunJob(t, f.job(t, "git", in))
			exectest.WantOutcome(t, r, events.Failed, tt.says)
			if r.Class != tt.class {
				t.Errorf("class %s", r.Class)
			}
		})
	}
	exectest.WantOutcome(t, exectest.RunJob(t, fake(t, nil).job(t, "git", exectest.Args{"repo": "/x", "dest": dir})), events.Failed, "git is not installed; it is in the package git")
}

// TestGitAsksForNothing holds that a prediction neither remembers the keys of hosts nor touches the index.
func TestGitAsksForNothing(t *testing.T) {
	f := fake(t, map[string]string{"git": "echo \"$GIT_SSH_COMMAND\" >> ${0%/*}/ssh\n" + fakeGit})
	_, err := exectest.PredictJob(t, f.job(t, "git", exectest.Args{"repo": "git@x:y", "dest": "/nowhere/x", "accept_hostkey": true}))
	if err != nil {
		t.Fatal(err)
	}
	ssh := "ssh -o UserKnownHostsFile='/dev/null ~/.ssh/known_hosts ~/.ssh/known_hosts2' -o BatchMode=yes -o StrictHostKeyChecking=no\n"
	if got := exectest.ReadFile(t, filepath.Join(f.dir, "ssh")); got != ssh {
		t.Errorf("ssh was %s", got)
	}
	if calls := f.calls(t); calls != "git [--no-optional-locks] [ls-remote] [--symref] [--] [git@x:y] [HEAD] [refs/heads/*] [refs/tags/*]" {
		t.Errorf("calls %s", calls)
	}
}

// TestGitSignatures looks at who has signed what is checked out already, as git and gpg tell it.
func TestGitSignatures(t *testing.T) {
	const signer, primary = "AAAA1111BBBB2222CCCC3333DDDD4444EEEE5555", "0123456789ABCDEF0123456789ABCDEF01234567"
	gpg := `echo '[GNUPG:] GOODSIG 0000 x <a@b.c>' >&2; echo '[GNUPG:] VALIDSIG ` + signer + ` 2026-01-01 1 0 4 0 22 10 00 ` + primary + `' >&2`
	ssh := `echo 'Good "git" signature for a@b.c with ED25519 key SHA256:abcDEF' >&2`
	dest := filepath.Join(t.TempDir(), "copy")
	if err := os.MkdirAll(filepath.Join(dest, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, says string
		list       []any
		want       string // the error
	}{
		{"any key", gpg, nil, ""},
		{"the key that signed", gpg, []any{"other", signer}, ""},
		{"its primary key, in groups and small letters", gpg, []any{"0123 4567 89ab cdef 0123  4567 89ab cdef 0123 4567"}, ""},
		{"another key", gpg, []any{"0123"}, "main is signed by " + signer + ", which is not in `gpg_allowlist`"},
		{"a key of ssh", ssh, []any{"SHA256:abcDEF"}, ""},
		{"another key of ssh", ssh, []any{"SHA256:x"}, "is signed by SHA256:abcDEF"},
		{"no key", "true", []any{"x"}, "git does not say by which key"},
		{"unsigned", "exit 1", nil, "main has no signature that can be trusted: it is not signed"},
		{"unknown", "echo '[GNUPG:] NO_PUBKEY 12' >&2; exit 1", []any{"12"}, "its key is not known"},
	} {
		f := fake(t, map[string]string{"git": `case "$*" in *verify-commit*--raw*` + commitB + `*) ` + tt.says + " ;; *config*) echo https://x/ ;; esac\n" +
			strings.ReplaceAll(fakeGit, "*config*", "*nothing*")})
		in := exectest.Args{"repo": "https://x/", "dest": dest, "version": "main", "verify_commit": true}
		if tt.list != nil {
			in["gpg_whitelist"] = tt.list
		}
		r := exectest.RunJob(t, f.job(t, "git", in))
		outcome := events.OK
		if tt.want != "" {
			outcome = events.Failed
		}
		if r.Outcome != outcome || !strings.Contains(r.Error, tt.want) {
			t.Errorf("%s: %v %q", tt.name, r.Outcome, r.Error)
		}
		if calls := f.calls(t); !strings.Contains(calls, "[verify-commit]") {
			t.Errorf("%s: calls\n%s", tt.name, calls)
		}
	}
}

// TestGitDir moves the repository of a working copy, and takes it away again with the copy.
func TestGitDir(t *testing.T) {
	dir := t.TempDir()
	dest := filepath.Join(dir, "copy")
	sh := func(command string) {
		t.Helper()
		exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "shell", exectest.Args{"cmd": command, "chdir": dir})), events.Changed, "")
	}
	sh("git init -q -b main repo && git -C repo -c user.name=x -c user.email=a@b.c commit -q --allow-empty -m one && git clone -q repo copy")
	in := exectest.Args{"repo": filepath.Join(dir, "repo"), "dest": dest, "separate_git_dir": filepath.Join(dir, "below", "git"), "update": false}
	if diff, err := exectest.PredictJob(t, exectest.NewJob(t, "git", in)); err != nil || !strings.HasPrefix(diff.Summary, "repository "+dest+"/.git → ") {
		t.Errorf("%+v %v", diff, err)
	}
	r := exectest.RunJob(t, exectest.NewJob(t, "git", in))
	exectest.WantOutcome(t, r, events.Changed, "")
	if text := exectest.ReadFile(t, filepath.Join(dest, ".git")); text != "gitdir: "+filepath.Join(dir, "below", "git")+"\n" {
		t.Errorf("%q", text)
	}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "git", in)), events.OK, "")
	in["update"] = true
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "git", in)), events.OK, "")
	sh("mkdir other")
	in["separate_git_dir"] = filepath.Join(dir, "other")
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "git", in)), events.Failed, "separate_git_dir: "+dir+"/other exists")
	gone := exectest.Args{"dest": dest, "state": "absent", "separate_git_dir": filepath.Join(dir, "below", "git")}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "git", gone)), events.Changed, "")
	if _, err := os.Stat(filepath.Join(dir, "below", "git")); !os.IsNotExist(err) {
		t.Error("the repository is left:", err)
	}
}
