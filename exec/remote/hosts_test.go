package remote_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/remote"
	"moon/exec/remote/sshtest"
	"moon/internal/assault"
	"moon/secret"
)

// record keeps what goes through it.
type record struct {
	io.Writer
	mu  sync.Mutex
	all bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.Write(p)
	return r.Writer.Write(p)
}

// TestRoundTrips counts what goes to a host for a step: the step itself, and nothing that somebody over there waits for.
func TestRoundTrips(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/small", "text")
	write(t, dir+"/t.j2", "hello {{ name }}")
	tests := []struct {
		action string
		in     args
	}{
		{"command", args{"argv": []any{"true"}}},
		{"shell", args{"cmd": "echo x"}},
		{"file", args{"path": dir + "/made", "content": "text"}},
		{"copy", args{"src": dir + "/small", "dest": dir + "/copied"}},
		{"copy", args{"content": "text", "dest": dir + "/written"}},
		{"template", args{"src": dir + "/t.j2", "dest": dir + "/rendered"}},
		{"script", args{"cmd": dir + "/small"}},
		{"stat", args{"path": dir}},
	}
	there, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, back, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- remote.Serve(context.Background(), there, back, "test") }()
	sent := &record{Writer: out}
	pool := &remote.Pool{Build: "test"}
	h := exec.Host{Name: "web1"}
	if err := pool.ConnectHost(h, in, sent, func() { _ = out.Close() }); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		sent.mu.Lock()
		sent.all.Reset()
		sent.mu.Unlock()
		job := on(t, h, tt.action, tt.in)
		job.Names = names{"name": "ada"}
		if r := pool.Run(t.Context(), job); r.Outcome == events.Unreachable {
			t.Errorf("%s: %s", tt.action, show(r))
		}
		sent.mu.Lock()
		if got := remote.Kinds(sent.all.Bytes()); !slices.Equal(got, []string{"job"}) {
			t.Errorf("%s takes %v", tt.action, got)
		}
		sent.mu.Unlock()
	}
	if text, err := os.ReadFile(dir + "/rendered"); err != nil || string(text) != "hello ada" {
		t.Errorf("%q, %v", text, err)
	}
	pool.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	for _, f := range []*os.File{there, in, back} {
		_ = f.Close() // both ends have ended
	}
}

// TestFiles brings a large file and a tree to a host, over a line that takes its time, and steps that differ there and here.
func TestFiles(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	s.Keep(t)
	pool := reaching(t)
	far := s.Far(t, 20*time.Millisecond)
	dir := t.TempDir()
	large := make([]byte, assault.Rounds(64<<20, 64<<20))
	if _, err := rand.Read(large); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/large", string(large))
	write(t, dir+"/tree/a/b", "b")
	write(t, dir+"/tree/c", strings.Repeat("c", 100<<10))
	for _, name := range []string{"large", "tree"} {
		began := time.Now()
		if r := pool.Run(t.Context(), on(t, far, "copy", args{"src": dir + "/" + name, "dest": s.Home + "/"})); r.Outcome != events.Changed {
			t.Fatal(show(r))
		}
		t.Log(name, time.Since(began))
	}
	if got, err := os.ReadFile(s.Home + "/large"); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d bytes arrived: %v", len(got), err)
	}
	if got, err := os.ReadFile(s.Home + "/tree/a/b"); err != nil || string(got) != "b" {
		t.Errorf("%q, %v", got, err)
	}
	if r := pool.Run(t.Context(), on(t, far, "copy", args{"src": dir + "/none", "dest": s.Home + "/"})); r.Outcome != events.Failed || !strings.Contains(r.Error, "none does not exist") {
		t.Errorf("%s", show(r))
	}
}

// TestDryThere predicts what a host would have after a step.
func TestDryThere(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	s.Keep(t)
	dry := reaching(t).Dry(fsys.NewOverlay())
	for _, want := range []events.Outcome{events.Changed, events.OK} {
		if r := dry.Run(t.Context(), on(t, s.Host, "file", args{"path": s.Home + "/made", "content": "x"})); r.Outcome != want {
			t.Errorf("%s", show(r))
		}
	}
	if _, err := os.Stat(s.Home + "/made"); !os.IsNotExist(err) {
		t.Error("it is made")
	}
}

// TestFacts gathers those of a host, which has another home than this one.
func TestFacts(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	s.Keep(t)
	pool := reaching(t)
	there, err := pool.Facts(t.Context(), &s.Host, nil)
	if err != nil {
		t.Fatal(err)
	}
	here, err := pool.Facts(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if there.Moon["home"] != s.Home || there.Moon["os"] != here.Moon["os"] || there.Ansible["user_dir"] == nil || fmt.Sprintf("%T", there.Moon["cpu_cores"]) != "int" {
		t.Errorf("%v", there)
	}
	for name := range here.Ansible {
		if _, ok := there.Ansible[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	s.Deaf(true)
	other := s.Host
	other.Args += " -o LogLevel=ERROR" // so that it is another
	if _, err := pool.Facts(t.Context(), &other, nil); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("%v", err)
	}
}

// newUser makes a user of this machine, who is removed at the end.
func newUser(t *testing.T, name string) (u *user.User, password string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may make users")
	}
	for _, tool := range []string{"useradd", "userdel", "chpasswd", "sudo"} {
		if _, err := osexec.LookPath(tool); err != nil {
			t.Skip("no", tool, "here")
		}
	}
	name = fmt.Sprintf("moon%s%d", name, os.Getpid())
	run := func(stdin string, argv ...string) {
		cmd := osexec.Command(argv[0], argv[1:]...)
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	run("", "useradd", "-m", "-K", "HOME_MODE=0700", "-s", "/bin/sh", name)
	t.Cleanup(func() {
		_ = os.Remove("/etc/sudoers.d/" + name)
		for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) { // what runs as the user is about to end
			out, err := osexec.Command("userdel", "-r", name).CombinedOutput()
			if _, there := user.Lookup(name); there != nil {
				return
			}
			if time.Now().After(end) {
				t.Errorf("userdel: %v\n%s", err, out)
				return
			}
		}
	})
	password = "pass word of " + name + " $!"
	run(name+":"+password+"\n", "chpasswd")
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return u, password
}

func sudoers(t *testing.T, name, rule string) {
	t.Helper()
	if err := os.WriteFile("/etc/sudoers.d/"+name, []byte(name+" "+rule+"\n"), 0o440); err != nil {
		t.Fatal(err)
	}
}

// TestBecomeThere logs in as one user and becomes others, with and without a password.
func TestBecomeThere(t *testing.T) {
	assault.Long(t)
	s := sshtest.Start(t, 1)[0]
	ada, password := newUser(t, "ada")
	bob, _ := newUser(t, "bob")
	h := s.Host
	h.User = ada.Username
	as := func(t *testing.T, pool *remote.Pool, b exec.Become) (exec.Result, string) {
		t.Helper()
		job := on(t, h, "shell", args{"cmd": `id -un; echo "$HOME"`})
		job.Become = &b
		return pool.Run(t.Context(), job), printed(job)
	}
	want := func(t *testing.T, r exec.Result, text string, u *user.User) {
		t.Helper()
		if r.Outcome != events.Changed || text != u.Username+"\n"+u.HomeDir+"\n" {
			t.Errorf("%s, %q", show(r), text)
		}
	}
	t.Run("nobody else", func(t *testing.T) {
		r, text := as(t, reaching(t), exec.Become{User: ada.Username})
		want(t, r, text, ada)
	})
	t.Run("no password", func(t *testing.T) {
		sudoers(t, ada.Username, "ALL=(ALL) NOPASSWD: ALL")
		pool := reaching(t)
		r, text := as(t, pool, exec.Become{User: bob.Username})
		want(t, r, text, bob)
		if err := pool.ReadyOn(t.Context(), h, exec.Become{User: bob.Username}); err != nil {
			t.Error(err)
		}
		facts, err := pool.Facts(t.Context(), &h, &exec.Become{User: bob.Username})
		if err != nil || facts.Moon["home"] != bob.HomeDir || facts.Ansible["user_id"] != bob.Username {
			t.Errorf("%v, %v, %v", facts, bob.HomeDir, err)
		}
		// Files are read here, and handed on twice.
		dir := t.TempDir()
		write(t, dir+"/large", strings.Repeat("0123456789abcdef", 64<<10))
		write(t, dir+"/t.j2", "hello {{ name }}")
		for _, in := range []args{{"src": dir + "/large", "dest": bob.HomeDir + "/large"}, {"src": dir + "/t.j2", "dest": bob.HomeDir + "/t"}} {
			action := "copy"
			if strings.HasSuffix(in["src"].(string), ".j2") {
				action = "template"
			}
			job := on(t, h, action, in)
			job.Become, job.Names = &exec.Become{User: bob.Username}, names{"name": "ada"}
			if r := pool.Run(t.Context(), job); r.Outcome != events.Changed {
				t.Errorf("%s", show(r))
			}
		}
		if info, err := os.Stat(bob.HomeDir + "/large"); err != nil || info.Size() != 1<<20 {
			t.Errorf("%v", err)
		}
		if text, err := os.ReadFile(bob.HomeDir + "/t"); err != nil || string(text) != "hello ada" {
			t.Errorf("%q, %v", text, err)
		}
		if s.Dials() != 2 {
			t.Errorf("it was dialled %d times", s.Dials())
		}
	})
	t.Run("password", func(t *testing.T) {
		sudoers(t, ada.Username, "ALL=(ALL) ALL")
		pool := reaching(t)
		b := exec.Become{User: bob.Username, Method: "sudo"}
		var locked *remote.PasswordError
		if err := pool.ReadyOn(t.Context(), h, b); !errors.As(err, &locked) || locked.Wrong || locked.Host != "web1" {
			t.Errorf("%v", err)
		}
		if r, _ := as(t, pool, b); r.Outcome != events.Failed || !strings.Contains(r.Error, "asks for a password") {
			t.Errorf("%s", show(r))
		}
		wrong := b
		wrong.Password = "not that"
		for range 2 {
			if r, _ := as(t, pool, wrong); r.Outcome != events.Failed || !strings.Contains(r.Error, "password is wrong") || strings.Contains(r.Error, "not that") {
				t.Errorf("%s", show(r))
			}
		}
		pool.GiveOn(h, b, password)
		r, text := as(t, pool, b)
		want(t, r, text, bob)
	})
	t.Run("typed in the run", func(t *testing.T) {
		sudoers(t, ada.Username, "ALL=(ALL) ALL")
		pool := reaching(t)
		b := exec.Become{User: bob.Username, Method: "sudo", Password: "of the playbook, and wrong"}
		var asked []string
		answers := []string{"a", "b", "c", "d", ""}
		pool.Asks = func(_ context.Context, why *remote.PasswordError) (string, bool) {
			asked = append(asked, fmt.Sprint(why.Question(), why.Wrong))
			next := answers[0]
			answers = answers[1:]
			return next, next != ""
		}
		question := fmt.Sprintf("password of %s on web1 for sudo: true", ada.Username)
		for i, n := range []int{3, 5, 5} { // three wrong ones; one, and then none; what looks ahead does not ask again
			run := pool.Run
			if i == 2 {
				run = pool.Dry(fsys.NewOverlay()).Run
			}
			job := on(t, h, "file", args{"path": bob.HomeDir + "/f", "state": "touch"})
			job.Become = &b
			if r := run(t.Context(), job); r.Outcome != events.Failed || r.Class != fault.Fatal || !strings.Contains(r.Error, "password is wrong") {
				t.Errorf("%s", show(r))
			}
			if len(asked) != n || asked[n-1] != question {
				t.Errorf("%d questions, want %d: %q", len(asked), n, asked)
			}
		}
		answers = []string{"e", password}
		r, text := as(t, pool, b)
		want(t, r, text, bob)
		// It is known now, for whoever else is to be become, and where the playbook says none.
		r, text = as(t, pool, exec.Become{User: "root", Method: "sudo"})
		if r.Outcome != events.OK && r.Outcome != events.Changed || !strings.Contains(text, "root") || len(asked) != 7 {
			t.Errorf("%s %q %q", show(r), text, asked)
		}
	})
	t.Run("of the playbook", func(t *testing.T) {
		r, text := as(t, reaching(t), exec.Become{User: bob.Username, Method: "sudo", Password: password})
		want(t, r, text, bob)
	})
}

// TestUnseen looks for what is secret among the words and the settings of all processes, while a step has it.
func TestUnseen(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	ada, password := newUser(t, "ada")
	sudoers(t, ada.Username, "ALL=(ALL) ALL")
	h := s.Host
	h.User = ada.Username
	pool := reaching(t)
	const token = "s3cret-t0ken-of-this-test"
	job := on(t, h, "shell", args{"cmd": "read -r x; echo up; sleep 600", "stdin": token + "\n"})
	job.Become, job.Env, job.Secrets = &exec.Become{User: "root", Password: password}, map[string]string{"TOKEN": token}, secret.NewSet()
	job.Secrets.Add("", token)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan exec.Result, 1)
	go func() { done <- pool.Run(ctx, job) }()
	says(t, job, "up")
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	ssh := 0
	for _, path := range paths {
		line, _ := os.ReadFile(path) // or it has ended
		settings, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		own := bytes.HasPrefix(line, []byte("ssh\x00"))
		if own {
			ssh++
		}
		for _, hidden := range []string{token, password} {
			if bytes.Contains(line, []byte(hidden)) || own && bytes.Contains(settings, []byte(hidden)) {
				t.Errorf("%s shows %q", path, hidden)
			}
		}
	}
	if ssh == 0 {
		t.Error("there was nothing to look at")
	}
	cancel(fault.Interrupt)
	<-done
}

// TestNothingLeft looks for files that steps and copies have left on a host, whatever became of them.
func TestNothingLeft(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	tmp := s.Home + "/tmp"
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Setenv(t, "TMPDIR", tmp)
	pool := reaching(t)
	dir := t.TempDir()
	write(t, dir+"/script", "#!/bin/sh\necho up; sleep 600\n")
	job := on(t, s.Host, "script", args{"cmd": dir + "/script"})
	done := make(chan exec.Result, 1)
	go func() { done <- pool.Run(t.Context(), job) }()
	says(t, job, "up")
	left := func() []string {
		entries, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	if len(left()) != 1 {
		t.Errorf("%v", left())
	}
	s.Cut()
	<-done
	for end := time.Now().Add(5 * time.Minute); len(left()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%v", left())
		}
	}
	// What an interrupted copy, and an older moon, have left in the cache is removed by the next that runs from there.
	cache := s.Home + "/.cache/moon"
	old := time.Now().Add(-60 * 24 * time.Hour)
	for _, name := range []string{".moon-leftover", "of-another-build", "notes"} {
		if err := os.Mkdir(cache+"/"+name, 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "notes" {
			continue
		}
		if err := os.Chtimes(cache+"/"+name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	wantWorks(t, pool, s.Host)
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		entries, err := os.ReadDir(cache)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 2 { // notes, and the one that runs
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%v", entries)
		}
	}
}

// TestOtherSystems meets a machine that no moon is here for, and one whose cache holds what does not run.
func TestOtherSystems(t *testing.T) {
	assault.Long(t)
	s := sshtest.Start(t, 1)[0]
	t.Setenv("MOON_AGENTS", t.TempDir())
	bin := s.Home + "/bin"
	write(t, bin+"/uname", "#!/bin/sh\necho Plan9 mips\n")
	if err := os.Chmod(bin+"/uname", 0o755); err != nil {
		t.Fatal(err)
	}
	s.Setenv(t, "PATH", bin+":/usr/bin:/bin")
	pool := reaching(t)
	r := pool.Run(t.Context(), on(t, s.Host, "command", args{"argv": []any{"true"}}))
	if r.Outcome != events.Unreachable || !strings.Contains(r.Error, "it is plan9-mips, and there is no moon for that here; put one of this version at "+os.Getenv("MOON_AGENTS")+"/plan9-mips/moon") {
		t.Errorf("%s", show(r))
	}
	// One is put there, and somebody asks again.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(os.Getenv("MOON_AGENTS")+"/plan9-mips", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, os.Getenv("MOON_AGENTS")+"/plan9-mips/moon"); err != nil {
		t.Fatal(err)
	}
	pool.Redial(s.Host)
	wantWorks(t, pool, s.Host)
	pool.Close()
	kept, err := filepath.Glob(s.Home + "/.cache/moon/*-Plan9-mips/moon")
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v", kept, err)
	}
	for name, text := range map[string]string{"cut": "\x7fELF\x02\x01", "another": "#!/bin/sh\nprintf 'moon agent\\n'; exit 0\n"} {
		if err := os.Remove(kept[0]); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(kept[0], []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		again := reaching(t)
		t.Log(name)
		wantWorks(t, again, s.Host)
		again.Close()
	}
}

// TestNoCache has a host whose cache cannot be written to: moon runs there from another place, and leaves nothing.
func TestNoCache(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	tmp := s.Home + "/tmp"
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, s.Home+"/.cache", "no directory")
	s.Setenv(t, "TMPDIR", tmp)
	wantWorks(t, reaching(t), s.Host)
	entries, err := os.ReadDir(tmp)
	if err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestPassword logs in with a password, which nobody else is told.
func TestPassword(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	ada, password := newUser(t, "ada")
	s.Config(t, "PasswordAuthentication yes\nPubkeyAuthentication no")
	h := s.Host
	h.User, h.Password = ada.Username, password
	pool := reaching(t)
	job := on(t, h, "shell", args{"cmd": "id -un; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c 'pass wor[d]'; env | grep -c -i 'pass'; true"})
	if r := pool.Run(t.Context(), job); r.Outcome != events.Changed || printed(job) != ada.Username+"\n0\n0\n" {
		t.Errorf("%s, %q", show(r), printed(job))
	}
	h.Password = "not that"
	r := pool.Run(t.Context(), on(t, h, "command", args{"argv": []any{"true"}}))
	if r.Outcome != events.Unreachable || r.Class != fault.Fatal || !strings.Contains(r.Error, "Permission denied") || strings.Contains(r.Error, "not that") {
		t.Errorf("%s", show(r))
	}
	// Whom nobody knows is not told anything.
	s.Impostor(t)
	h.Password = password
	pool.Close()
	for _, checking := range []string{"yes", "ask"} {
		h.Args = "-o StrictHostKeyChecking=" + checking + " " + s.Host.Args
		if failed := reaching(t).Open(t.Context(), []exec.Host{h}); failed[h] == nil || !strings.Contains(failed[h].Error(), "Host key verification failed") {
			t.Errorf("%v", failed)
		}
	}
	if strings.Count(s.Log(), "Accepted password") != 1 {
		t.Error("the password was given to another")
	}
	left, err := filepath.Glob(os.TempDir() + "/moon-0/*.p")
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestInFront runs commands on a host that have the terminal, with words as they are.
func TestInFront(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	s.Keep(t)
	pool := reaching(t)
	if failed := pool.Open(t.Context(), []exec.Host{s.Host}); len(failed) > 0 {
		t.Fatal(failed)
	}
	prefix, err := pool.PrefixOn(s.Host, nil, "/usr")
	if err != nil {
		t.Fatal(err)
	}
	argv := append(prefix, "env", "A=b c", "sh", "-c", `printf '%s|' "$@" "$A" "$PWD"; test -t 0 && echo terminal > /dev/tty; exit 7`, "sh", "it's", `a "b" $c \d`, "", "two\nlines")
	cmd := osexec.Command(argv[0], argv[1:]...)
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	defer func() { _ = terminal.Close() }() // it was only read
	out, _ := io.ReadAll(terminal)          // ends with an error where the other end is closed
	err = cmd.Wait()
	// ssh makes this terminal raw only when the session has begun: what a quick program prints before goes through two terminals.
	got := strings.ReplaceAll(string(out), "\r\r\n", "\r\n")
	if want := "it's|a \"b\" $c \\d||two\r\nlines|b c|/usr|terminal\r\n"; got != want || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
	if s.Dials() != 1 {
		t.Errorf("it was dialled %d times: the connection is not shared", s.Dials())
	}
	guarded := on(t, s.Host, "shell", args{"cmd": "true"})
	guarded.Interactive, guarded.Creates = true, "/"
	if r := pool.Run(t.Context(), guarded); r.Outcome != events.Failed || !strings.Contains(r.Error, "cannot have") {
		t.Errorf("%s", show(r))
	}
}

// TestShellOnAHost opens a shell where a step runs on another machine: at its home, with the step's environment.
func TestShellOnAHost(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	if err := os.Mkdir(s.Home+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]string{"~": s.Home, "~/sub": s.Home + "/sub", "/usr": "/usr", "/not/there": s.Home} {
		job := &exec.Job{Host: &s.Host, Cwd: cwd, Roams: true, Env: map[string]string{"GREETING": "it's"}}
		shell, err := remote.Shell(job, map[string]string{"MOON_STEP": "step-0001"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		argv := shell.Args()
		cmd := osexec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Stdin = strings.NewReader("echo \"<$GREETING $MOON_STEP $PWD>\"; exit\n")
		out, _ := cmd.CombinedOutput() // ends as the shell ends
		if line := "<it's step-0001 " + want + ">"; !strings.Contains(string(out), line) {
			t.Errorf("%s: no %q in\n%s", cwd, line, out)
		}
	}
}
