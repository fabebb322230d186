package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/remote"
)

type (
	args  = exectest.Args
	names = exectest.Names
)

// other is somebody who does not exist: the connections of these tests lead to this very process.
var other = exec.Become{User: "somebody else"}

// connected are connections to an agent within this process. cut ends its input, as the death of moon would.
func connected(tb testing.TB, local exec.Local) (pool *remote.Pool, cut func()) {
	tb.Helper()
	there, out, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	in, back, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		err := remote.Serve(context.Background(), there, back, "test")
		served <- errors.Join(err, back.Close(), there.Close())
	}()
	pool = &remote.Pool{Local: local, Build: "test"}
	var once sync.Once
	cut = func() { once.Do(func() { _ = out.Close() }) }
	if err := pool.Connect(other, in, out, cut); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		pool.Close()
		if err := <-served; err != nil {
			tb.Error(err)
		}
		_ = in.Close()
	})
	return pool, cut
}

// newJob is a job for a connection: it belongs to somebody else.
func newJob(tb testing.TB, dir, action string, in args) *exec.Job {
	tb.Helper()
	job := exectest.NewJob(tb, action, in)
	job.Cwd, job.Become, job.Trusted = dir, &other, false
	return job
}

func printed(job *exec.Job) string {
	kept, keptErrs, _ := job.Output.Kept()
	out, errs := kept.Text, keptErrs.Text
	return string(out) + string(errs)
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// TestJobFields keeps the wire in step with the job: each of its fields crosses a connection in a way of its own.
func TestJobFields(t *testing.T) {
	crosses := map[string]string{
		"Action": "as it is", "Args": "decoded again from Raw", "Raw": "as it is", "Env": "as it is", "Cwd": "as it is", "Roams": "as it is",
		"Timeout": "as it is", "Creates": "as it is", "Removes": "as it is", "Unless": "as it is", "OnlyIf": "as it is", "NoLog": "as it is",
		"Become": "by the connection, with a host as it is", "Host": "by the connection", "From": "by asking", "Incremental": "as it is, Forget by asking", "Diff": "as it is", "Output": "piece by piece",
		"Names": "by asking", "Reach": "it stays here", "Now": "as a frame", "Owner": "it stays here", "Again": "as it is", "Decrypt": "by asking", "Secrets": "those of the arguments",
		"Attempt": "as it is", "Details": "as it is", "Interactive": "it stays here", "Notice": "it stays here", "Prefix": "it stays here",
		"To": "by asking", "HostName": "it stays here", "Dialect": "as it is", "Trusted": "as it is", "Project": "as it is, but not to a host", "Pack": "by asking", "Background": "as it is",
	}
	for f := range reflect.TypeFor[exec.Job]().Fields() {
		if crosses[f.Name] == "" {
			t.Errorf("exec.Job has a field %s, which does not cross a connection: add it to request in message.go, and to this list", f.Name)
		}
	}
}

// TestSameAsHere runs every action here and over a connection: output, result and what is on the disk are the same.
func TestSameAsHere(t *testing.T) {
	tests := []struct {
		name   string
		action string
		in     args
		set    func(*exec.Job)
	}{
		{"shell", "shell", args{"cmd": "echo out; echo err >&2; echo $A; exit 3"}, func(j *exec.Job) { j.Env = map[string]string{"A": "b\xff"} }},
		{"stdin", "shell", args{"cmd": "cat", "stdin": "a\x00\xff"}, nil},
		{"much output", "shell", args{"cmd": "head -c 3000000 /dev/zero | tr '\\0' x"}, nil},
		{"command", "command", args{"argv": []any{"printf", "%s", "x y"}}, nil},
		{"no such command", "command", args{"argv": []any{"no-such-command-here"}}, nil},
		{"timeout", "shell", args{"cmd": "exec sleep 60"}, func(j *exec.Job) { j.Timeout = 50 * time.Millisecond }},
		{"creates", "shell", args{"cmd": "echo x"}, func(j *exec.Job) { j.Creates = "/" }},
		{"removes", "shell", args{"cmd": "echo x"}, func(j *exec.Job) { j.Removes = "/nowhere" }},
		{"unless", "shell", args{"cmd": "echo x"}, func(j *exec.Job) { j.Unless = "true" }},
		{"onlyif", "shell", args{"cmd": "echo x"}, func(j *exec.Job) { j.OnlyIf = "false"; j.NoLog = true }},
		{"a guarded print", "print", args{"msg": "x"}, func(j *exec.Job) { j.Unless = "false" }},
		{"up to date", "shell", args{"cmd": "echo x"}, func(j *exec.Job) {
			j.Incremental = &exec.Incremental{Sources: []string{j.Cwd + "/src/*"}, Generates: []string{j.Cwd + "/made"}, Force: true, Forget: func() error { return nil }}
		}},
		{"nothing can be forgotten", "shell", args{"cmd": "echo x"}, func(j *exec.Job) {
			j.Incremental = &exec.Incremental{Forget: func() error { return errors.New("no record can be removed") }}
		}},
		{"file", "file", args{"path": "DIR/made", "content": "text\n", "mode": "0600"}, nil},
		{"directory", "file", args{"path": "DIR/a/b/c", "state": "directory", "mode": 750}, nil},
		{"nothing to do", "file", args{"path": "DIR/src/one", "state": "file"}, nil},
		{"copy", "copy", args{"src": "DIR/src/one", "dest": "DIR/copied", "mode": "preserve"}, nil},
		{"copy over", "copy", args{"src": "DIR/src/one", "dest": "DIR/src/sub/two", "backup": false}, nil},
		{"the same", "copy", args{"src": "DIR/src/one", "dest": "DIR/src/one"}, nil},
		{"a large file", "copy", args{"src": "DIR/large", "dest": "DIR/copied"}, nil},
		{"content", "copy", args{"content": "x\xff", "dest": "DIR/copied", "checksum": "md5:dd2ba1e2b9dd6ea3b22ba5f2ae14d4b1"}, nil},
		{"a tree", "copy", args{"src": "DIR/src", "dest": "DIR/to"}, nil},
		{"what is in a tree", "copy", args{"src": "DIR/src/", "dest": "DIR/to"}, nil},
		{"no source", "copy", args{"src": "DIR/none", "dest": "DIR/to"}, nil},
		{"template", "template", args{"src": "DIR/src/t.j2", "dest": "DIR/rendered"}, func(j *exec.Job) { j.Names = names{"name": "ada"} }},
		{"a bad template", "template", args{"src": "DIR/src/t.j2", "dest": "DIR/rendered"}, nil},
		{"validate", "template", args{"src": "DIR/src/t.j2", "dest": "DIR/rendered", "validate": "sh -c 'cat %s; false'"}, func(j *exec.Job) { j.Names = names{"name": "ada"} }},
		{"assert", "assert", args{"that": []any{"a", "b"}}, func(j *exec.Job) { j.Names = names{"a": true, "b": false} }},
		{"a bad condition", "assert", args{"that": []any{"c"}}, nil},
		{"find", "find", args{"paths": []any{"DIR/src"}, "recurse": true}, nil},
		{"stat", "stat", args{"path": "DIR/src/one"}, nil},
		{"lineinfile", "lineinfile", args{"path": "DIR/src/one", "line": "another"}, nil},
		{"replace", "replace", args{"path": "DIR/src/one", "regexp": "(o)ne", "replace": `\1n`}, nil},
		{"blockinfile", "blockinfile", args{"path": "DIR/src/one", "block": "x"}, nil},
		{"wait", "wait", args{"path": "DIR/src/one"}, nil},
		{"waited too long", "wait", args{"path": "DIR/none", "timeout": "0.01", "interval": "0.005"}, nil},
	}
	pool, _ := connected(t, exec.Local{Grace: 500 * time.Millisecond})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ends [2]string
			for i := range ends {
				// The two are at paths of the same length, which are then made one.
				dir := filepath.Join(t.TempDir(), "work")
				write(t, dir+"/src/one", "one\ntwo\n")
				write(t, dir+"/src/sub/two", "other\n")
				write(t, dir+"/src/t.j2", "hello {{ name }}\n")
				write(t, dir+"/large", strings.Repeat("0123456789abcdef", 64<<10)+"end")
				if err := os.Symlink("one", dir+"/src/link"); err != nil {
					t.Fatal(err)
				}
				job := newJob(t, dir, tt.action, placed(tt.in, dir).(args))
				if tt.set != nil {
					tt.set(job)
				}
				var r exec.Result
				if i == 0 {
					job.Become = nil
				}
				dry := pool.Dry(fsys.NewOverlay()).Run(t.Context(), job)
				if (dry.Age > 0) != (dry.Diff != nil && filepath.IsAbs(dry.Diff.Path)) || dry.Age > time.Minute {
					t.Errorf("what was just written was changed %s ago: %+v", dry.Age, dry.Diff)
				}
				dry.Age, dry.Took = 0, 0 // the clock is not the same twice
				r = pool.Run(t.Context(), job)
				ends[i] = unsteady(fmt.Sprintf("%#v\n%s\n%s\n%q\n%s", dry.Outcome, show(dry), show(r), printed(job), tree(t, dir)), dir)
			}
			if ends[0] != ends[1] {
				t.Errorf("here\n%s\nover a connection\n%s", ends[0], ends[1])
			}
		})
	}
}

// placed puts a directory into arguments.
func placed(v any, dir string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "DIR", dir)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = placed(v[i], dir)
		}
		return list
	case args:
		m := args{}
		for k := range v {
			m[k] = placed(v[k], dir)
		}
		return m
	}
	return v
}

// show is a value with its types, as far as they matter.
func show(v any) string {
	rv := reflect.ValueOf(v)
	switch rv.Kind() { //nolint:exhaustive // the others print themselves
	case reflect.Pointer:
		if rv.IsNil() {
			return "nil"
		}
		return "&" + show(rv.Elem().Interface())
	case reflect.Struct:
		var parts []string
		for i := range rv.NumField() {
			parts = append(parts, rv.Type().Field(i).Name+": "+show(rv.Field(i).Interface()))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Slice:
		var parts []string
		for i := range rv.Len() {
			parts = append(parts, show(rv.Index(i).Interface()))
		}
		return rv.Type().String() + "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		var parts []string
		for _, k := range rv.MapKeys() {
			switch k.String() {
			case "inode", "atime", "mtime", "ctime":
				continue
			}
			parts = append(parts, fmt.Sprintf("%q: %s", k, show(rv.MapIndex(k).Interface())))
		}
		slices.Sort(parts)
		return "map[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprintf("%#v", v)
}

var version = regexp.MustCompile(`"version": "[0-9]*"`) // the file system numbers its files

var digest = regexp.MustCompile(`"[0-9a-f]{64}"`) // over files that are elsewhere

func unsteady(text, dir string) string {
	text = version.ReplaceAllString(digest.ReplaceAllString(text, `"DIGEST"`), `"version": ""`)
	return strings.ReplaceAll(strings.ReplaceAll(text, dir, "DIR"), filepath.Dir(dir), "TMP")
}

// tree is all that is in a directory.
func tree(tb testing.TB, dir string) string {
	tb.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(text[:min(len(text), 100)])
			if info.Size() > 100 {
				content += fmt.Sprint(info.Size())
			}
		}
		fmt.Fprintf(&b, "%s %s %q\n", strings.TrimPrefix(path, dir), info.Mode(), content)
		return nil
	})
	if err != nil {
		tb.Error(err)
	}
	return b.String()
}

// TestStops ends what runs at the far end, in every way that there is.
func TestStops(t *testing.T) {
	tests := []struct {
		name   string
		script string
		stop   func(cancel context.CancelCauseFunc, now chan struct{})
		want   events.Outcome
		rc     int
		prints string
	}{
		{"interrupted", "trap 'echo INT; exit 7' INT; echo up; while :; do sleep 0.05; done", func(c context.CancelCauseFunc, _ chan struct{}) { c(fault.Interrupt) }, events.Cancelled, 7, "up\nINT\n"},
		{"deaf to INT", "trap '' INT; trap 'echo TERM; exit 8' TERM; echo up; while :; do sleep 0.05; done", func(c context.CancelCauseFunc, _ chan struct{}) { c(fault.Interrupt) }, events.Cancelled, 8, "up\nTERM\n"},
		{"deaf", "trap '' INT TERM; echo up; while :; do sleep 0.05; done", func(c context.CancelCauseFunc, _ chan struct{}) { c(fault.Interrupt) }, events.Cancelled, 128 + int(syscall.SIGKILL), "up\n"},
		{"expired", "trap 'echo TERM; exit 9' TERM; echo up; while :; do sleep 0.05; done", func(c context.CancelCauseFunc, _ chan struct{}) { c(fault.Expired) }, events.Timeout, 9, "up\nTERM\n"},
		{"now", "trap '' INT TERM; echo up; while :; do sleep 0.05; done", func(_ context.CancelCauseFunc, now chan struct{}) { close(now) }, events.Cancelled, 128 + int(syscall.SIGKILL), "up\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pool, _ := connected(t, exec.Local{Grace: time.Second})
			job := newJob(t, t.TempDir(), "shell", args{"cmd": tt.script})
			now := make(chan struct{})
			job.Now = now
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			done := make(chan exec.Result, 1)
			go func() { done <- pool.Run(ctx, job) }()
			says(t, job, "up")
			tt.stop(cancel, now)
			r := <-done
			if r.Outcome != tt.want || r.RC == nil || *r.RC != tt.rc || !strings.HasPrefix(printed(job), tt.prints) {
				t.Errorf("%s, printed %q; want %v, rc %d, %q", show(r), printed(job), tt.want, tt.rc, tt.prints)
			}
		})
	}
}

// says waits until a job has printed something.
func says(tb testing.TB, job *exec.Job, word string) {
	tb.Helper()
	for end := time.Now().Add(5 * time.Minute); !strings.Contains(printed(job), word); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("it never said %s, but %q", word, printed(job))
		}
	}
}

// TestCut ends the connection while jobs run: their processes are killed, with those in the background.
func TestCut(t *testing.T) {
	var mu sync.Mutex
	moments := map[process.Moment]int{}
	pool, cut := connected(t, exec.Local{Watch: func(m process.Moment) {
		mu.Lock()
		defer mu.Unlock()
		moments[m]++
	}})
	var wg sync.WaitGroup
	pids := make([][]int, 3)
	results := make([]exec.Result, len(pids))
	jobs := make([]*exec.Job, len(pids))
	for i := range jobs {
		jobs[i] = newJob(t, t.TempDir(), "shell", args{"cmd": "trap '' INT TERM HUP; sleep 600 & echo $$ $! up; wait"})
		wg.Go(func() { results[i] = pool.Run(t.Context(), jobs[i]) })
	}
	for i, job := range jobs {
		says(t, job, "up")
		for word := range strings.FieldsSeq(printed(job)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids[i] = append(pids[i], pid)
			}
		}
	}
	cut()
	wg.Wait()
	for i, r := range results {
		// Whether the end of the job or that of the connection is heard first is open.
		if r.Outcome != events.Failed && r.Outcome != events.Cancelled || r.Class == fault.Transient {
			t.Errorf("%s", show(r))
		}
		for _, pid := range pids[i] {
			for end := time.Now().Add(5 * time.Minute); running(pid); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("process %d survives", pid)
				}
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if moments[process.Spawned] != 3 {
		t.Errorf("%v", moments)
	}
}

// running reports whether there is a process that is not only waiting to be reaped.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// TestSeveral runs many jobs at once over one connection.
func TestSeveral(t *testing.T) {
	pool, _ := connected(t, exec.Local{})
	var wg sync.WaitGroup
	for i := range 32 {
		job := newJob(t, t.TempDir(), "shell", args{"cmd": fmt.Sprintf("for i in 1 2 3 4 5; do echo job %d line $i; done", i)})
		wg.Go(func() {
			r := pool.Run(t.Context(), job)
			want := ""
			for n := range 5 {
				want += fmt.Sprintf("job %d line %d\n", i, n+1)
			}
			if r.Outcome != events.Changed || printed(job) != want {
				t.Errorf("job %d: %s, %q", i, show(r), printed(job))
			}
		})
	}
	wg.Wait()
}

// TestAsksOfStrangers has an agent ask what its job has nothing to do with. It runs as another user, who may be behind it.
func TestAsksOfStrangers(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/src/one", "{{ name }}")
	write(t, dir+"/secret", "{{ name }}")
	tree := newJob(t, dir, "copy", args{"src": dir + "/src", "dest": "/x"})
	file := newJob(t, dir, "template", args{"src": dir + "/src/one", "dest": "/x"})
	assert := newJob(t, dir, "assert", args{"that": []any{"mine"}})
	shell := newJob(t, dir, "shell", args{"cmd": "x"})
	for _, job := range []*exec.Job{tree, file, assert, shell} {
		job.Names = names{"name": "ada", "mine": true, "theirs": true}
	}
	tests := []struct {
		name  string
		job   *exec.Job
		what  string
		text  string
		file  string
		right bool
	}{
		{"the tree", tree, "stat", dir + "/src", "", true},
		{"a file in the tree", tree, "open", dir + "/src/one", "", true},
		{"a file beside the tree", tree, "open", dir + "/secret", "", false},
		{"out of the tree", tree, "open", dir + "/src/../secret", "", false},
		{"a name that begins like the tree", tree, "open", dir + "/srcs", "", false},
		{"the directory above", tree, "readdir", dir, "", false},
		{"the file", file, "open", dir + "/src/one", "", true},
		{"its template", file, "render", "", dir + "/src/one", true},
		{"another template", file, "render", "{{ name }}", dir + "/secret", false},
		{"a step that copies nothing", shell, "open", dir + "/src/one", "", false},
		{"a template of a step without one", shell, "render", "", dir + "/src/one", false},
		{"its condition", assert, "holds", "mine", "", true},
		{"another condition", assert, "holds", "theirs", "", false},
		{"a value", shell, "value", "name", "", false},
		{"a record", shell, "forget", "", "", false},
		{"nonsense", tree, "remove", dir + "/src", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := remote.AskHost(tt.job, tt.what, tt.text, tt.file); (err == nil) != tt.right {
				t.Errorf("%v", err)
			}
		})
	}
	if text, _ := remote.AskHost(file, "render", "another text {{ name }}", dir+"/src/one"); text != "ada" {
		t.Errorf("another text is rendered: %q", text)
	}
}

// TestStrangeHosts gives an agent what no host says: it ends.
func TestStrangeHosts(t *testing.T) {
	for name, stream := range map[string][]byte{
		"output": remote.Frame(6, 1, nil), "no message": remote.Frame(2, 1, []byte("x")), "text": []byte("hello? is anybody there?"),
	} {
		if err := remote.Serve(t.Context(), bytes.NewReader(stream), io.Discard, "test"); !errors.Is(err, remote.ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := remote.Serve(t.Context(), strings.NewReader(""), io.Discard, "test"); err != nil {
		t.Errorf("the end: %v", err)
	}
}

// BenchmarkStep is what a step costs here, and over a connection.
func BenchmarkStep(b *testing.B) {
	pool, _ := connected(b, exec.Local{})
	dir := b.TempDir()
	write(b, dir+"/one", "text")
	for _, bb := range []struct {
		name   string
		action string
		in     args
	}{{"true", "command", args{"argv": []any{"true"}}}, {"file", "file", args{"path": dir + "/one", "content": "text"}}} {
		for _, over := range []string{"here", "connection"} {
			b.Run(bb.name+"/"+over, func(b *testing.B) {
				job := newJob(b, dir, bb.action, bb.in)
				if over == "here" {
					job.Become = nil
				}
				for b.Loop() {
					if r := pool.Run(b.Context(), job); r.Outcome == events.Failed {
						b.Fatal(r.Error)
					}
				}
			})
		}
	}
}
