package action_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/spec"
	"moon/internal/assault"
	"moon/plan/dialect"
)

// same is a task that is carried out twice by Ansible and by moon, each in a directory of its own: DIR. Both must say the
// same of changes and failures, and of the fields of the result that are named, and leave the same files.
type same struct {
	module string
	args   string // JSON
	fields string // after the first time
}

var sameAsAnsible = []same{
	{"file", `{"path": "DIR/d/e", "state": "directory", "mode": "0750"}`, "path state mode uid gid owner group"},
	{"file", `{"path": "DIR/d", "state": "directory", "mode": "u=rwX,g=rX,o=", "recurse": true}`, "state"},
	{"file", `{"path": "DIR/link", "state": "link", "src": "DIR/text"}`, "dest src"},
	{"file", `{"path": "DIR/relative", "state": "link", "src": "parts/1"}`, "dest src state"},
	{"file", `{"path": "DIR/nobody", "state": "file"}`, ""},
	{"copy", `{"content": "fixed\n", "dest": "DIR/fixed", "mode": "0644"}`, "path dest checksum state"},
	{"replace", `{"path": "DIR/nobody", "regexp": "x", "replace": "y"}`, "rc"},
	{"command", `{"argv": ["/no/such/program", "x"]}`, "cmd rc stdout"},
	{"shell", `{"_raw_params": "no-such-program"}`, "rc cmd msg"},
	{"set_fact", `{"a": 1}`, "ansible_facts"},
	{"file", `{"path": "DIR/hard", "state": "hard", "src": "DIR/text"}`, "dest src state"},
	{"file", `{"path": "DIR/gone", "state": "absent"}`, "path state"},
	{"file", `{"path": "DIR/none", "state": "absent"}`, "path state"},
	{"file", `{"path": "DIR/found/a.x", "mode": "u+x,g-r"}`, "state mode size"},
	{"copy", `{"content": "one\ntwo\n", "dest": "DIR/copied", "mode": "0600"}`, "dest checksum md5sum mode owner group uid gid size state"},
	{"copy", `{"content": "other", "dest": "DIR/text", "force": false}`, "dest"},
	{"copy", `{"src": "DIR/text", "dest": "DIR/d/", "remote_src": true}`, "dest src state"},
	{"copy", `{"content": "x", "dest": "DIR/no/such/x"}`, ""},
	{"lineinfile", `{"path": "DIR/text", "regexp": "^b", "line": "B"}`, "msg"},
	{"lineinfile", `{"path": "DIR/text", "insertafter": "^a", "line": "new"}`, "msg backup path size"},
	{"lineinfile", `{"path": "DIR/text", "regexp": "^c", "state": "absent"}`, "msg found"},
	{"lineinfile", `{"path": "DIR/missing", "line": "x"}`, "rc"},
	{"lineinfile", `{"path": "DIR/made", "line": "x", "create": true}`, "msg"},
	{"blockinfile", `{"path": "DIR/text", "block": "one\ntwo"}`, "msg"},
	{"blockinfile", `{"path": "DIR/text", "block": "one", "insertbefore": "BOF", "marker": "; {mark} x"}`, "msg"},
	{"replace", `{"path": "DIR/text", "regexp": "o(n)e", "replace": "O\\1E"}`, "msg"},
	{"stat", `{"path": "DIR/fixed"}`, "stat.exists stat.isdir stat.isreg stat.islnk stat.mode stat.uid stat.gid stat.pw_name stat.gr_name stat.size stat.mtime stat.checksum stat.nlink stat.rusr stat.wgrp stat.xoth stat.isuid stat.path stat.readable stat.executable stat.block_size stat.blocks"},
	{"stat", `{"path": "DIR/none"}`, "stat"},
	{"stat", `{"path": "DIR/link"}`, "stat.islnk stat.lnk_target stat.lnk_source"},
	{"find", `{"paths": "DIR/found", "patterns": "*.x", "recurse": true}`, "matched examined"},
	{"command", `{"argv": ["sh", "-c", "echo out; echo err >&2; exit 3"]}`, "cmd msg"},
	{"command", `{"_raw_params": "echo  'a b'", "chdir": "DIR"}`, "cmd msg"},
	{"command", `{"_raw_params": "touch x", "creates": "DIR/text"}`, "cmd stdout stdout_lines"},
	{"shell", `{"_raw_params": "echo $((1 + 1)) | cat", "chdir": "DIR"}`, "cmd msg"},
	{"slurp", `{"src": "DIR/fixed"}`, "content encoding source"},
	{"getent", `{"database": "passwd", "key": "root"}`, "ansible_facts"},
	{"getent", `{"database": "passwd", "key": "nobody-of-that-name"}`, ""},
	{"assemble", `{"src": "DIR/parts", "dest": "DIR/assembled", "delimiter": "--"}`, "dest checksum md5sum size state mode"},
	{"known_hosts", `{"name": "h", "key": "h ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdGOvvvl4ZJPW7BXbkrz7f0bz2VLSjsKQ1bUZ2Ef3xW", "path": "DIR/known"}`, ""},
	{"set_stats", `{"data": {"a": 1}}`, "ansible_stats"},
	{"group_by", `{"key": "a b"}`, "add_group parent_groups"},
	{"add_host", `{"name": "h:2222", "groups": "x,y", "v": 1}`, "add_host.host_name add_host.groups"},
	{"ping", `{"data": "x"}`, "ping"},
	{"fail", `{"msg": "no"}`, "msg"},
	{"wait_for", `{"path": "DIR/text"}`, "path state"},
	{"wait_for", `{"path": "DIR/never", "timeout": 1}`, ""},
	{"unarchive", `{"src": "DIR/x.tar", "dest": "DIR/d", "remote_src": true}`, "dest src"},
	{"git", `{"repo": "DIR/repo", "dest": "DIR/clone", "version": "main"}`, "before after"},
	{"cron", `{"name": "j", "job": "true", "minute": "5", "user": "root", "cron_file": "DIR/cron"}`, "jobs"},
	{"fetch", `{"src": "DIR/fixed", "dest": "DIR/fetched"}`, "checksum dest remote_checksum"},
	{"service_facts", `{}`, ""},
}

const sameFiles = `cd "$1" && mkdir -p parts found/sub gone/x && umask 022
printf 'alpha\nbeta\ngamma\nb2\nc\n' > text
printf 'fixed\n' > fixed && touch -d @1700000000 fixed
printf 'a' > parts/1 && printf 'b\n' > parts/2
touch found/a.x found/b.y found/sub/c.x
tar -C parts -cf x.tar 1 2
git init -q -b main repo && cd repo && git config user.email a@b.c && git config user.name x && echo hi > f && git add f && git commit -qm x --date=@1700000000
`

// TestSameAsAnsible compares with Ansible where that is installed.
//
// That takes minutes: here every sixth task is compared, and every one with ANSIBLE=all (make ansible).
func TestSameAsAnsible(t *testing.T) {
	assault.Long(t)
	if os.Getenv("ANSIBLE") != "all" {
		sample := []same{}
		for i := 0; i < len(sameAsAnsible); i += 6 {
			sample = append(sample, sameAsAnsible[i])
		}
		all := sameAsAnsible
		sameAsAnsible = sample
		t.Cleanup(func() { sameAsAnsible = all })
	}
	for _, name := range []string{"ansible-playbook", "git"} {
		if _, err := osexec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	theirs, ours := t.TempDir(), t.TempDir()
	for _, dir := range []string{theirs, ours} {
		cmd := osexec.CommandContext(t.Context(), "sh", "-ec", sameFiles, "sh", dir)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=@1700000000", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%s", err, out)
		}
	}
	they := byAnsible(t, theirs)
	for i, task := range sameAsAnsible {
		for time := range 2 {
			name := fmt.Sprintf("%d: %s %s, time %d", i, task.module, task.args, time+1)
			is := they[2*i+time]
			if is["failed"] == true {
				is["changed"] = false // of commands that fail Ansible says that they changed something
			}
			if time > 0 && (task.module == "add_host" || task.module == "group_by") {
				continue // whether that is news only the inventory knows
			}
			got, r := byMoon(t, ours, task)
			if changed, failed := r.Outcome == events.Changed, events.OnFailure.Has(r.Outcome); changed != (is["changed"] == true) || failed != (is["failed"] == true) {
				t.Errorf("%s: changed %v, failed %v (%s), Ansible has %v", name, changed, failed, r.Error, is)
				continue
			}
			if time > 0 {
				continue
			}
			for field := range strings.FieldsSeq(task.fields) {
				if want, got := at(is, field), at(got, field); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %s is %#v, Ansible has %#v", name, field, got, want)
				}
			}
		}
	}
	a, b := treeOf(t, theirs), treeOf(t, ours)
	for _, path := range slices.Sorted(maps.Keys(a)) {
		if a[path] != b[path] {
			t.Errorf("%s is %q, with Ansible %q", path, b[path], a[path])
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			t.Errorf("%s is not there with Ansible", path)
		}
	}
}

// byAnsible has all tasks carried out, each twice, and returns their results.
func byAnsible(t *testing.T, dir string) []map[string]any {
	t.Helper()
	tasks := []any{}
	names := []string{}
	for i, task := range sameAsAnsible {
		for time := range 2 {
			var args any
			if err := json.Unmarshal([]byte(strings.ReplaceAll(task.args, "DIR", dir)), &args); err != nil {
				t.Fatal(task.args, err)
			}
			name := fmt.Sprintf("r%d_%d", i, time)
			names = append(names, name)
			tasks = append(tasks, map[string]any{"ansible.builtin." + task.module: args, "register": name, "ignore_errors": true})
		}
	}
	results := filepath.Join(t.TempDir(), "results.json")
	all := "{{ [" + strings.Join(names, ", ") + "] }}"
	tasks = append(tasks, map[string]any{"copy": map[string]any{"content": all, "dest": results}})
	text, err := json.Marshal([]any{map[string]any{"hosts": "localhost", "connection": "local", "gather_facts": false, "tasks": tasks, "vars": map[string]any{"ansible_python_interpreter": "/usr/bin/python3"}}})
	if err != nil {
		t.Fatal(err)
	}
	book := filepath.Join(t.TempDir(), "book.yml")
	exectest.WriteFile(t, book, string(text), 0o644)
	cmd := osexec.CommandContext(t.Context(), "ansible-playbook", "-i", "localhost,", book)
	cmd.Env = append(os.Environ(), "ANSIBLE_LOCALHOST_WARNING=False", "ANSIBLE_NOCOWS=1", "ANSIBLE_LOCAL_TEMP="+t.TempDir(), "ANSIBLE_REMOTE_TEMP="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s", err, out)
	}
	data, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	var is []map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(data), dir, "DIR")), &is); err != nil {
		t.Fatal(err)
	}
	return is
}

// byMoon carries a task out once. Its fields come back as JSON has them, with DIR in the place of the directory.
func byMoon(t *testing.T, dir string, task same) (map[string]any, exec.Result) {
	t.Helper()
	var in exectest.Args
	if err := json.Unmarshal([]byte(strings.ReplaceAll(task.args, "DIR", dir)), &in); err != nil {
		t.Fatal(err)
	}
	job := exectest.NewJob(t, task.module, in)
	job.Dialect = dialect.Ansible
	r := exectest.RunJob(t, job)
	if r.Outcome == events.Skipped {
		r.Outcome = events.OK // as plays count it
	}
	fields := maps.Clone(r.Fields)
	if fields == nil {
		fields = map[string]any{}
	}
	if r.RC != nil {
		fields["rc"] = *r.RC
	}
	if _, has := fields["msg"]; !has && r.Error != "" {
		fields["msg"] = r.Error
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), dir, "DIR")), &got); err != nil {
		t.Fatal(err)
	}
	return got, r
}

// at finds a value by names with dots between.
func at(m any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		inner, _ := m.(map[string]any)
		m = inner[name]
	}
	return m
}

// treeOf is what is in a directory: modes and contents, by path. Repositories are compared by what is checked out.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular() && d.Name() != "x.tar":
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + target
		}
		all[strings.ReplaceAll(path, dir, "DIR")] = strings.ReplaceAll(text, dir, "DIR")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTakesWhatAnsibleTakes holds the arguments that Ansible documents against those of the actions: each is taken, or
// refused as what it is.
func TestTakesWhatAnsibleTakes(t *testing.T) {
	assault.Long(t)
	if _, err := osexec.LookPath("ansible-doc"); err != nil {
		t.Skip(err)
	}
	var modules []string
	for _, a := range spec.All() {
		if !a.Open {
			modules = append(append(modules, a.Name), a.Aliases...)
		}
	}
	argv := append([]string{"-j"}, modules...)
	text, err := osexec.CommandContext(context.WithoutCancel(t.Context()), "ansible-doc", argv...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var docs map[string]struct {
		Doc struct {
			Collection string
			Options    map[string]struct{ Aliases []string }
		}
	}
	if err := json.Unmarshal(text, &docs); err != nil {
		t.Fatal(err)
	}
	if len(docs) < 40 {
		t.Errorf("only %d modules are documented", len(docs))
	}
	for module, doc := range docs {
		a, ok := spec.Lookup(module)
		if !ok || doc.Doc.Collection != "ansible.builtin" {
			continue
		}
		for name, option := range doc.Doc.Options {
			if name == "free_form" || name == "free-form" {
				continue // a word of the documentation
			}
			for _, name := range append([]string{name}, option.Aliases...) {
				_, problems := a.Decode(exectest.Args{name: "strange"})
				for _, p := range problems {
					if strings.Contains(p.Message, "has no field `"+name+"`") {
						t.Errorf("%s does not know %s", module, name)
					}
				}
			}
		}
	}
}
