package spec_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/exec/spec"
)

func TestEveryActionIsComplete(t *testing.T) {
	for _, a := range spec.All() {
		if a.Doc == "" || a.Example == "" || len(a.Returns) == 0 {
			t.Errorf("%s: needs a doc, an example and what it returns", a.Name)
		}
		if !strings.Contains(a.Example, a.Name+":") || strings.Contains(a.Example, "\t") {
			t.Errorf("%s: its example does not use it, or has tabs", a.Name)
		}
		if !strings.HasPrefix(a.Least, a.Name+": ") || strings.Contains(a.Least, "\n") {
			t.Errorf("%s: its shortest step is %q", a.Name, a.Least)
		}
		for _, r := range a.Returns {
			if r.Name == "" || r.Doc == "" {
				t.Errorf("%s: a return value lacks its doc", a.Name)
			}
		}
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			for _, full := range []string{name, "ansible.builtin." + name} {
				if got, ok := spec.Lookup(full); !ok || got != a {
					t.Errorf("Lookup(%q) does not find %s", full, a.Name)
				}
			}
			if !slices.Contains(spec.Names(), name) {
				t.Errorf("Names() lacks %s", name)
			}
		}
		for _, free := range []string{a.Free, a.FreeList} {
			if _, ok := a.Field(free); free != "" && !ok {
				t.Errorf("%s: plain text goes to the unknown field %s", a.Name, free)
			}
		}
		checkFields(t, a.Name, a.Fields())
	}
	if !slices.IsSortedFunc(spec.All(), func(a, b *spec.Action) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("actions are not sorted by name")
	}
}

func checkFields(t *testing.T, action string, fields []spec.Field) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range fields {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if seen[name] || name == "" {
				t.Errorf("%s: two fields are called %q", action, name)
			}
			seen[name] = true
		}
		if f.Doc == "" || !strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s.%s: doc %q", action, f.Name, f.Doc)
		}
		if f.Kind == spec.Bool && f.Default == "" && !f.Required {
			t.Errorf("%s.%s: a switch without a default", action, f.Name)
		}
		if f.Required && f.Default != "" {
			t.Errorf("%s.%s: required, with a default", action, f.Name)
		}
		if f.Kind.String() == "" || (f.Kind == spec.Object) != (len(f.Fields) > 0) {
			t.Errorf("%s.%s: kind %v with %d fields", action, f.Name, f.Kind, len(f.Fields))
		}
		checkFields(t, action+"."+f.Name, f.Fields)
	}
}

type args = map[string]any

// number spells itself, as a number of a playbook does.
type number string

func (n number) String() string { return string(n) }

func TestDecode(t *testing.T) {
	text := func(s string) *string { return &s }
	yes := true
	tests := []struct {
		action string
		in     args
		want   any
	}{
		{"shell", args{"cmd": "make"}, &spec.ShellArgs{Cmd: "make", Interpreter: "/bin/sh", StdinNewline: true}},
		{"shell", args{"_raw_params": 5, "stdin": "", "executable": "bash"}, &spec.ShellArgs{Cmd: "5", Stdin: text(""), Interpreter: "bash", StdinNewline: true}},
		{"command", args{"argv": []any{"echo", 1, 2.5, true, number("010")}}, &spec.CommandArgs{Argv: []string{"echo", "1", "2.5", "true", "010"}, StdinNewline: true}},
		{"command", args{"cmd": `a "b c" d\ e '$HOME' | f`}, &spec.CommandArgs{Cmd: `a "b c" d\ e '$HOME' | f`, Argv: []string{"a", "b c", "d e", "$HOME", "|", "f"}, StdinNewline: true}},
		{"debug", args{"msg": []any{1}}, &spec.PrintArgs{Msg: []any{1}}},
		{"print", args{"var": "x.y"}, &spec.PrintArgs{Var: "x.y"}},
		{"fail", nil, &spec.FailArgs{}},
		{"set_fact", args{"a": 1, "b": nil, "cacheable": "yes"}, &spec.SetFactArgs{Values: args{"a": 1, "b": nil}, Cacheable: true}},
		{"assert", args{"that": "a == 1"}, &spec.AssertArgs{That: []string{"a == 1"}}},
		{"assert", args{"that": []any{"a", true}, "msg": "no"}, &spec.AssertArgs{That: []string{"a", "true"}, FailMsg: "no"}},
		{"assert", args{"command": args{"cmd": "true", "exit_code": "2"}}, &spec.AssertArgs{Command: &spec.AssertCommand{Cmd: "true", ExitCode: 2}}},
		{"assert", args{"file": args{"path": "/x", "exists": "true"}}, &spec.AssertArgs{File: &spec.AssertFile{Path: "/x", Exists: &yes}}},
		{"assert", args{"http": args{"url": "http://x", "body": args{"a": 1}}}, &spec.AssertArgs{HTTP: &spec.AssertHTTP{
			URL: "http://x", Method: "GET", Status: 200, Body: text(`{"a":1}`), Timeout: 30 * time.Second,
		}}},
		{"file", args{"dest": "/x", "state": "hardlink", "src": "/y"}, &spec.FileArgs{AccessFormat: usualTime, ModFormat: usualTime, Path: "/x", State: "hard", Src: "/y"}},
		{"file", args{"path": "/x", "content": "", "owner": 1000}, &spec.FileArgs{AccessFormat: usualTime, ModFormat: usualTime, Path: "/x", Content: text(""), Owner: "1000"}},
		{"file", args{"path": "/x", "mode": nil}, &spec.FileArgs{AccessFormat: usualTime, ModFormat: usualTime, Path: "/x"}},
		{"file", args{"path": "/x", "recurse": true}, &spec.FileArgs{AccessFormat: usualTime, ModFormat: usualTime, Path: "/x", State: "directory", Recurse: true}},
		{"file", args{"path": "/x", "state": "absent", "src": "/y"}, &spec.FileArgs{AccessFormat: usualTime, ModFormat: usualTime, Path: "/x", State: "absent", Src: "/y"}},
		{"copy", args{"content": args{"a": []any{"<&>"}}, "dest": "/x"}, &spec.CopyArgs{Content: text(`{"a":["<&>"]}`), Dest: "/x", Force: true}},
		{"copy", args{"src": "/a", "path": "/x", "force": "no"}, &spec.CopyArgs{Src: "/a", Dest: "/x"}},
		{"template", args{"src": "/a", "dest": "/x", "vars": args{"a": 1}}, &spec.TemplateArgs{Src: "/a", Dest: "/x", Vars: args{"a": 1}, Force: true, TrimBlocks: true, BlockStart: "{%", BlockEnd: "%}", VariableStart: "{{", VariableEnd: "}}", CommentStart: "{#", CommentEnd: "#}"}},
		{"wait", args{"port": "80"}, &spec.WaitArgs{
			Condition: "port", Status: 200, Port: 80, Host: "127.0.0.1", Timeout: 300 * time.Second, Interval: time.Second,
			ConnectTimeout: 5 * time.Second,
		}},
		{"wait_for", args{"path": "/x", "state": "absent", "timeout": 2.5, "sleep": "1m30s"}, &spec.WaitArgs{
			Condition: "file_absent", Status: 200, Path: "/x", Host: "127.0.0.1", State: "stopped", Absent: true,
			Timeout: 2500 * time.Millisecond, Interval: 90 * time.Second, ConnectTimeout: 5 * time.Second,
		}},
		{"wait_for", args{"timeout": 3}, &spec.WaitArgs{
			Status: 200, Host: "127.0.0.1", Timeout: 3 * time.Second, Interval: time.Second,
			ConnectTimeout: 5 * time.Second,
		}},
	}
	for _, tt := range tests {
		a, _ := spec.Lookup(tt.action)
		got, problems := a.Decode(tt.in)
		if len(problems) > 0 || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %v = %+v, %v; want %+v", tt.action, tt.in, got, problems, tt.want)
		}
	}
}

func TestDecodeProblems(t *testing.T) {
	tests := []struct {
		action string
		in     args
		want   string // problems, one on each line
	}{
		{"shell", args{}, "`shell` needs `cmd`"},
		{"shell", args{"cmd": nil}, "`shell` needs `cmd`, which is null"},
		{"shell", args{"cmd": []any{"a"}}, "`cmd` must be text, found a list"},
		{"shell", args{"cmd": "x", "stdn": "y"}, "`shell` has no field `stdn`; did you mean `stdin`?"},
		{"shell", args{"cmd": "x", "zzzzzz": "y"}, "`shell` has no field `zzzzzz`; it has cmd, stdin, interpreter, stdin_add_newline, creates, removes, chdir"},
		{"command", args{}, "`command` has nothing to run; give a list of words, or text"},
		{"command", args{"cmd": "a 'b"}, "`cmd` has a quote ' that is not closed; quote it, or give a list of words"},
		{"command", args{"cmd": "a", "argv": []any{"b"}}, "`argv` and `cmd` are two ways to say the same; give one of them"},
		{"command", args{"argv": []any{[]any{"b"}}}, "`argv` must be a list of texts, found a list"},
		{"print", args{}, "`print` has nothing to print; give `msg` or `var`"},
		{"set_fact", nil, "`set_fact` sets no variable"},
		{"assert", nil, "`assert` has nothing to check; give `that`, `command`, `file` or `http`"},
		{"assert", args{"file": args{"pth": "/x"}, "http": "x"}, "`assert` has no field `file.pth`; did you mean `path`?\n" +
			"`http` must be a map, found \"x\""},
		{
			"assert",
			args{"file": args{"path": "/x", "exists": false, "mode": "0600"}},
			"a file that must not exist can have no content, mode or owner; leave `exists` out",
		},
		{"file", args{"mode": []any{}, "stat": "x", "recurse": "maybe"}, "`file` has no field `stat`; did you mean `state`?\n" +
			"`file` needs `path`\n`mode` must be like 0644 or u+x, found a list\n`recurse` must be true or false, found \"maybe\""},
		{"file", args{"path": "/x", "dest": "/y"}, "`path` and `dest` are the same field; give one of them"},
		{
			"file",
			args{"path": "/x", "state": "dirctory"},
			"`state` must be one of file, directory, absent, link, hard, hardlink, touch, perms, found \"dirctory\"; did you mean `directory`?",
		},
		{"file", args{"path": "/x", "state": "link"}, "`state: link` needs `src`"},
		{"file", args{"path": "/x", "src": "/y"}, "`src` goes with `state: link` or `hard` only; to copy a file use `copy`"},
		{"file", args{"path": "/x", "state": "directory", "content": "a"}, "`content` goes with `state: file` only"},
		{"file", args{"path": "/x", "state": "perms"}, "`state: perms` needs `mode`, `owner`, `group` or `attributes`"},
		{"file", args{"path": "/x", "mode": "0600", "state": "file", "recurse": true}, "`recurse` goes with `state: directory` or `perms` only"},
		{"file", args{"path": "/x", "mode": "preserve"}, "`mode: preserve` goes with `copy` and `template` only"},
		{"file", args{"path": "/x", "mode": 493}, "`mode` must be octal digits like 0644, found 493; if it is the decimal form of an octal mode, write \"0755\""},
		{"file", args{"path": "/x", "mode": "0899"}, "`mode` must be octal digits like 0644, found 0899"},
		{"file", args{"path": "/x", "mode": 7}, "`mode` must have three or four octal digits like 0644, found 7"},
		{"file", args{"path": "/x", "mode": true}, "`mode` must be like 0644 or u+x, found true"},
		{"file", args{"path": "/x", "mode": "u~x"}, "`mode` must be like 0644 or u+x, found \"u~x\""},
		{"copy", args{"dest": "/x"}, "`copy` needs `src` or `content`"},
		{"copy", args{"dest": "/x", "src": "/a", "content": "b"}, "`src` and `content` exclude each other; give one of them"},
		{"copy", args{"dest": "/x", "src": "/a", "checksum": "sha256:12", "validate": "true"}, "`checksum` must be the hex digits of a sha256, sha1, sha512 or md5\n" +
			"`validate` does not say where the file goes; write %s for it"},
		{"wait", args{}, "`wait` has nothing to wait for; give `condition`, `port`, `path`, `url` or `cmd`"},
		{"wait", args{"condition": "http"}, "`condition: http` needs `url`"},
		{"wait", args{"port": 0, "timeout": "soon"}, "`timeout` must be a duration like 30s, 1m30s or a number of seconds, found \"soon\""},
		{"wait", args{"port": 0, "interval": 0}, "`port` must be between 1 and 65535\n`interval` must be longer than nothing\n" +
			"`wait` has nothing to wait for; give `condition`, `port`, `path`, `url` or `cmd`"},
		{"wait", args{"path": "/x", "search_regex": "("}, "`search_regex` is not a regular expression: missing closing ) in `(`"},
		{"wait", args{"port": 1, "exclude_hosts": "x", "active_connection_states": "LISTEN"}, "`exclude_hosts` goes with `state: drained` only\n" +
			"`active_connection_states` must be of ESTABLISHED, FIN_WAIT1, FIN_WAIT2, SYN_RECV, SYN_SENT, TIME_WAIT, found \"LISTEN\""},
		{"wait", args{"path": "/x", "state": "drained"}, "`state: drained` is for a `port`"},
		{"copy", args{"content": "", "dest": "/x", "attributes": "+iQ"}, "`attributes` has \"Q\", which cannot be set; the letters are aAcCdDeFijmPsStTux, as of chattr"},
		{"file", args{"path": "/x", "attr": "-"}, "`attributes` has no letter after -; the letters are aAcCdDeFijmPsStTux, as of chattr"},
		{"file", args{"path": "/x", "state": "link", "src": "y", "attr": "i", "follow": false}, "`attributes` is for files and directories; a link has none; remove `follow: false`, and what the link leads to has them"},
		{"git", args{"repo": "x", "bare": true, "dest": "/x", "separate_git_dir": "/y"}, "`separate_git_dir` and `bare` exclude each other; a bare repository is where `dest` says"},
		{"composer", args{"command": "require x"}, "`command` must be one word, found \"require x\"; give the rest as `arguments`\n`composer` needs `working_dir`; or `global_command: true`"},
		{"yum_repository", args{"name": "x", "file": "a/b"}, "`file` must be a name without a directory, found \"a/b\"; give the directory as `reposdir`\n" +
			"`yum_repository` needs `baseurl`, `metalink` or `mirrorlist`\n`yum_repository` needs `description`"},
		{"dnf", args{"name": "a", "installroot": "/x"}, "`dnf` does not support `installroot` yet; run it as a `command` step"},
		{"wait", args{"url": "http://x", "state": "stopped"}, "`state` goes with `path` and `port` only"},
		{"get_url", args{"url": "ftp://example.com/x", "dest": "/x"}, "`url` has the scheme ftp, which is not supported; it takes https, http, file"},
		{"get_url", args{"url": "example.com/x", "dest": "/x"}, "`url` has no scheme; write it like https://example.com/file"},
		{"get_url", args{"url": "https:///x", "dest": "/x"}, "`url` names no host; write it like https://example.com/file"},
		{"get_url", args{"url": "http://ann:secret@%zz/", "dest": "/x"}, "`url` is not a URL; write it like https://example.com/file"},
		{
			"get_url",
			args{"url": "https://x/y", "dest": "/x", "retries": 3, "checksum": "sha999:https://x/y", "url_password": "p", "client_key": "/k", "use_netrc": true},
			"`use_netrc` is not supported; give `url_username` and `url_password`\n`url_password` needs `url_username`\n`client_key` needs `client_cert`\n" +
				"`retries` is a key of the step; write it next to `get_url`; temporary failures are retried without it\n" +
				"`checksum` begins with sha999, which is not a hash algorithm; write sha256: and the URL",
		},
		{"get_url", args{"url": "https://x/y", "dest": "/x", "checksum": "sha256:12", "mode": "preserve", "timeout": 0}, "`mode: preserve` goes with `copy` and `template` only\n" +
			"`timeout` must be longer than nothing\n`checksum` must be the hex digits of a sha256, sha1, sha512 or md5"},
		{"uri", args{"url": "file:///x", "method": "GET it", "mode": "0600"}, "`url` has the scheme file, which is not supported; it takes https, http\n" +
			"`method` must be a word like GET or POST\n`mode` goes with `dest` only"},
		{"uri", args{"url": "http://x", "status_code": "ok"}, "`status_code` must be a number like 200, or several"},
		{"uri", args{"url": "http://x", "body": "a", "src": "/x", "ciphers": "x", "ca_path": "/x", "validate_certs": false}, "`ciphers` cannot be chosen; remove it; moon uses safe ciphers\n" +
			"`ca_path` has no effect with `validate_certs: false`; leave one of them out\n`body` and `src` exclude each other; give one of them"},
		{"uri", args{"url": "http://x", "body_format": "form-urlencoded", "body": []any{1}}, "`body` of a form must be a map of names and values, or a list of such pairs"},
		{
			"uri",
			args{"url": "http://x", "body_format": "form-multipart", "body": args{"f": args{"mime": "x"}}},
			"`body` of a multipart form must be a map of names to texts, or to maps with `content` or `filename`",
		},
		{"unarchive", args{"src": "/x", "dest": "/y", "extra_opts": []any{"-x"}, "include": "a", "exclude": "b", "validate_certs": false, "strip_components": -1}, "" +
			"`validate_certs` goes with a URL as `src` only\n" +
			"`extra_opts` has \"-x\", but moon runs no tar program that could take it; use `strip_components`, `include`, `exclude`, `keep_newer`, `owner` and `mode`\n" +
			"`include` and `exclude` exclude each other; give one of them\n`strip_components` must be 0 or more"},
		{
			"unarchive",
			args{"src": "ftp://x/y", "dest": "/y", "max_bytes": "much", "mode": "preserve", "include": "[z-a]"},
			"`src` has the scheme ftp, which is not supported; it takes https, http\nwithout `mode` the modes are preserved anyway; remove it\n" +
				"`max_bytes` must be a number with b, k, m, g or t, such as 20g\n`include` has \"[z-a]\", which is not a name pattern",
		},
		{"archive", args{"path": []any{"/a", "/b"}, "mode": "preserve", "exclusion_patterns": "[z-a]"}, "`mode: preserve` goes with `copy` and `template` only\n" +
			"`archive` needs `dest`, unless `path` is one file\n`exclusion_patterns` has \"[z-a]\", which is not a name pattern"},
		{"archive", args{"path": "/a*", "dest": "/b/", "format": "rar"}, "`format` must be one of gz, bz2, xz, zst, zstd, tar, zip, found \"rar\"; did you mean `tar`?"},
		{"archive", args{"path": "/a", "dest": "/b/"}, "`dest` is a directory; give the archive's name too"},
		{"patch", args{"src": "/p"}, "`patch` needs `basedir` or `dest`"},
		{"patch", args{"src": "/p", "dest": "/x", "strip": -1}, "`strip` must be 0 or more"},
		{"wait", args{"port": "x", "timeout": -1}, "`port` must be a whole number, found \"x\"\n" +
			"`timeout` must be a duration like 30s, 1m30s or a number of seconds, found -1"},
		{"user", args{"name": "-x", "password": "secret", "uid": -1}, "`name` cannot begin with -\n" +
			"`password` must be a hash, not the password itself; write `| password_hash('sha512', salt)` behind it, or give ! for none\n" +
			"`uid` must be between 0 and 4294967294"},
		{"user", args{"name": "x", "password": ""}, "`password` must be a hash, not the password itself; write `| password_hash('sha512', salt)` behind it, or give ! for none"},
		{"user", args{"name": "x", "non_unique": true, "comment": "a:b"}, "`non_unique` needs `uid`\n`comment` can have no colon and no second line"},
		{"user", args{"name": "x", "groups": "a,b c", "umask": "u+x"}, "`umask` must be octal digits like 077\n`groups` can have no blank, colon, comma or slash"},
		{"user", args{"name": "x", "move_home": true, "ssh_key_bits": 100}, "`move_home` needs `home`\na key of type rsa cannot have that many bits; it can have 2048, 3072, 4096 or 8192"},
		{"group", args{"name": "a/b", "gid": "x"}, "`gid` must be a whole number, found \"x\""},
		{
			"cron",
			args{"name": "x", "minute": "60", "hour": "1-", "day": "0", "month": "jan-feb/2,13", "weekday": "mon-sun", "job": "a\nb"},
			"`job` has more than one line; a crontab has a job in one line; put the rest into a script\n" +
				"`minute` must be *, numbers from 0 to 59, ranges like 2-4 or steps like */2, with commas between, found \"60\"\n" +
				"`hour` must be *, numbers from 0 to 23, ranges like 2-4 or steps like */2, with commas between, found \"1-\"\n" +
				"`day` must be *, numbers from 1 to 31, ranges like 2-4 or steps like */2, with commas between, found \"0\"\n" +
				"`month` must be *, numbers from 1 to 12, ranges like 2-4 or steps like */2, with commas between, found \"jan-feb/2,13\"\n" +
				"`weekday` must be *, numbers from 0 to 7, ranges like 2-4 or steps like */2, with commas between, found \"mon-sun\"",
		},
		{"cron", args{"name": "x", "special_time": "daily", "hour": 1}, "`cron` needs `job`\n`hour` and `special_time` exclude each other; give one of them"},
		{"cron", args{"name": "x", "job": "x", "cron_file": "a/b", "insertafter": "X"}, "`cron_file` needs `user`; the job is run by root there, or by whom you name\n" +
			"`insertafter` goes with `env` only\n`cron_file` must be a name in /etc/cron.d, or a whole path"},
		{"cron", args{"name": "x y", "value": "x", "env": true}, "`name` must be that of a variable with `env`"},
		{"hostname", args{"name": "a b"}, "`name` must be letters, digits and hyphens with dots between, at most 64 in all"},
		{"hostname", args{"name": "a", "use": "macos"}, "`use` must be one of systemd, generic, debian, alpine, found \"macos\""},
		{"sysctl", args{"name": "kernel/../../etc"}, "`name` must be like net.ipv4.ip_forward\n`sysctl` needs `value`"},
		{"sysctl", args{"name": "kernel", "value": 1}, "`name` must be like net.ipv4.ip_forward"},
		{"script", args{"cmd": "a 'b"}, ""},
		{"script", args{"cmd": "'a b"}, "`cmd` has a quote that is not closed"},
		{"script", args{"cmd": "  "}, "`script` has nothing to run; give the path of a script"},
		{"script", args{"cmd": "a", "executable": "b 'c"}, "`executable` has a quote ' that is not closed"},
		{"authorized_key", args{"user": "x", "key": "# none\n"}, "`key` has no key"},
		{"authorized_key", args{"user": "x", "key": "https://x/y\nhttps://x/z"}, "`key` has an address among other lines; give the address alone, in a task of its own"},
		{"authorized_key", args{"user": "x:", "key": "ssh-rsa AAAA"}, "`user` can have no blank, colon, comma or slash\n" +
			"`key` has a line that is not a public key: \"ssh-rsa AAAA\"; it is what a file like id_ed25519.pub holds"},
		{"authorized_key", args{"user": "x", "comment": "a\nb", "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0pD5wzWBJ1DGPvzR5JqFtYVwLHcyrPBQxgBFkGmP0a"}, "`key_options` and `comment` do not make a line with the key"},
		{"git", args{"repo": "-x", "version": "", "depth": 0}, "`git` needs `dest`\n`repo` cannot begin with -\n`version` must be one line of text\n" +
			"`depth` must be 1 or more; remove it to fetch everything"},
		{
			"git",
			args{"repo": "x", "dest": "/x", "accept_hostkey": true, "accept_newhostkey": true, "archive": "/x.rar", "umask": "1000"},
			"`accept_hostkey` and `accept_newhostkey` exclude each other; take `accept_newhostkey`\n`archive` must end in .zip, .tar, .tar.gz or .tgz\n`umask` must be octal digits like 077",
		},
		{"git", args{"repo": "x", "dest": "/x", "archive_prefix": "a/"}, "`archive_prefix` needs `archive`"},
		{"mount", args{"path": "/x", "state": "unmounted", "opts_no_log": true}, "`mount` does not support `opts_no_log` yet; give the step `no_log: true`"},
		{"group", args{"name": "", "non_unique": true}, "`name` is empty\n`non_unique` needs `gid`"},
		{"dnf", args{"list": "a b", "state": "present"}, "`list` has \"a b\", which is not a package name"},
		{"dnf", args{"list": "a", "name": "b"}, "`list` does not go with `name`; give one of them"},
		{"package", args{}, "`package` has nothing to do; give `name`, `upgrade` or `update_cache`"},
		{"package", args{"name": []any{"-y"}}, "`name` has \"-y\", which is not a package name"},
		{"package", args{"name": "a", "upgrade": true}, "`upgrade` is for every package and does not go with `name`; write `state: latest`"},
		{"package", args{"name": "a", "use": "atp"}, "`use` must be one of auto, apt, dnf, dnf5, yum, pacman, zypper, apk, homebrew, brew, found \"atp\"; did you mean `apt`?"},
		{"apt", args{"state": "latest"}, "`apt` has nothing to do; give `name`, `upgrade` or `update_cache`"},
		{
			"apt",
			args{"name": []any{"-oDir=/x", "curl-", "a b", "./x.deb", "http://x/y.deb", "--", "a;b", "a=-o"}},
			"`name` has \"-oDir=/x\", which is not a package name; a file or an address of one goes to `deb`\n" +
				"`name` has \"curl-\", which is not a package name; a file or an address of one goes to `deb`\n" +
				"`name` has \"a b\", which is not a package name; a file or an address of one goes to `deb`\n" +
				"`name` has \"./x.deb\", which is not a package name; a file or an address of one goes to `deb`\n" +
				"`name` has \"http://x/y.deb\", which is not a package name; a file or an address of one goes to `deb`\n" +
				"`name` has \"--\", which is not a package name; a file or an address of one goes to `deb`\n" +
				"`name` has \"a;b\", which is not a package name; a file or an address of one goes to `deb`",
		},
		{"apt", args{"name": "a", "deb": "b.deb", "upgrade": "yes"}, "`deb` and `name` and `upgrade` exclude each other; make several steps"},
		{"apt", args{"deb": "-x", "state": "absent"}, "`deb` goes with `state: present` only; to remove a package give its `name`\n" +
			"`deb` cannot begin with a hyphen; write ./ in front"},
		{
			"apt",
			args{"name": "a", "default_release": "-x", "dpkg_options": "force-confnew,--force-all", "policy_rc_d": 300, "update_cache_retries": -1},
			"`default_release` cannot begin with a hyphen\n" +
				"`dpkg_options` has \"--force-all\", which is not a dpkg option; write it without the two hyphens, as in force-confnew\n" +
				"`policy_rc_d` must be an exit status between 0 and 255\n`update_cache_retries` must be 0 or more",
		},
		{"apt", args{"state": "build-dep", "update_cache": true}, "`state: build-dep` needs `name`"},
		{"dnf", args{"name": "*", "state": "absent", "lock_timeout": 30}, "`lock_timeout` is not for `dnf`, which waits for others by itself; give the step a `timeout`\n" +
			"`name: \"*\"` with `state: absent` would remove everything; name the packages"},
		{"dnf", args{"name": "a", "security": true, "enablerepo": "--x"}, "`security` and `bugfix` go with `state: latest` only\n" +
			"`enablerepo` has \"--x\", which begins with a hyphen; leave the hyphens out"},
		{"dnf", args{"name": "a", "disable_plugin": "-x"}, "`disable_plugin` has \"-x\", which begins with a hyphen; leave the hyphens out"},
		{"pip", args{"name": "a", "umask": "u+x"}, "`umask` must be octal digits like 077"},
		{"zypper", args{"name": "a", "state": "dist-upgrade", "extra_args": "'"}, "`state: dist-upgrade` goes with `name: \"*\"` only\n" +
			"`extra_args` has a quote ' that is not closed"},
		{"zypper", args{"name": "*", "state": "absent"}, "`name: \"*\"` with `state: absent` would remove everything; name the packages"},
		{"apk", args{"name": "a", "available": true}, "`available` goes with `upgrade` only"},
		{"apk", args{"name": "a", "upgrade": true}, "`upgrade` is for every package and does not go with `name`; write `state: latest`"},
		{"pacman", args{"name": "a", "upgrade": true}, "`upgrade` is for every package and does not go with `name`; write `state: latest`"},
		{"homebrew", args{"name": "a", "upgrade_all": true, "install_options": "--HEAD"}, "`upgrade_all` is for every formula and does not go with `name`; write `state: latest`\n" +
			"`install_options` has \"--HEAD\", which begins with a hyphen; leave the hyphens out"},
		{"ini_file", args{"path": "/x", "option": "a"}, "`ini_file` needs `value` or `values`; with `allow_no_value: true` an option, or a section alone, needs none"},
		{"ini_file", args{"path": "/x", "option": "a", "value": "1\n2", "if_empty": true}, "`if_empty` is for a section and does not go with `option`\n`value` has more than one line\n`if_empty` goes with `state: absent` only"},
		{"ini_file", args{"path": "/x", "section": " ", "state": "absent"}, "`ini_file` needs `section` or `option`"},
		{"ini_file", args{"path": "/x", "option": "a", "value": 1, "values": 2, "follow": false}, "`ini_file` does not support `follow` yet; name what the link leads to"},
		{"mount", args{"path": "x", "state": "mounted"}, "`path` must begin with /, found \"x\"; swap space has `path: none`, with `state: present`, `absent` or `absent_from_fstab`\n`state: mounted` needs `src`\n`state: mounted` needs `fstype`"},
		{"mount", args{"path": "/x", "state": "present", "src": "-a", "fstype": "e\tf"}, "`src` cannot begin with a hyphen\n`fstype` has a tab or a line break"},
		{"modprobe", args{"name": "../x", "params": "a=1 -f"}, "`name` must be that of a module like br_netfilter, found \"../x\"\n`params` has \"-f\", which begins with a hyphen; they are like numdummies=2"},
		{"alternatives", args{"name": "a/b", "path": "/x", "slaves": []any{args{"name": "a", "path": "b", "link": "/c"}}}, "`name` must be a name like editor, found \"a/b\"\nitem 1 of `subcommands` must be a map with name, path and link, the latter two absolute"},
		{"git_config", args{"list_all": true, "name": "a.b", "scope": "local"}, "`list_all` does not go with `name` or `value`\n`scope: local` needs `repo`"},
		{"git_config", args{"name": "user"}, "`name` must be like user.email, found \"user\""},
		{"openssl_csr", args{"path": "/x", "privatekey_path": "/k", "subject_alt_name": []any{"DNS:a", "b"}, "basic_constraints": "CA:TRUE,pathlen:x"}, "`subject_alt_name` has \"b\", which does not say what it is; write DNS:b if it is a name of a host"},
		{"openssl_csr", args{"path": "/x", "privatekey_path": "/k", "subject": args{"XY": "a"}}, "`subject` has no name \"XY\"; write its object identifier in digits, as 2.5.4.3"},
		{"openssl_publickey", args{"path": "/x", "privatekey_path": "/k", "privatekey_content": "k"}, "`privatekey_path` and `privatekey_content` exclude each other; give one of them"},
		{"x509_certificate", args{"path": "/x", "provider": "acme", "selfsigned_not_after": "1d"}, "moon asks no ACME server for certificates; use `command: acme-tiny …` or `command: certbot …`\n`selfsigned_not_after` is \"1d\", which is not like +32w1d2h or 20301231235959Z"},
		{"ufw", args{"comment": "a"}, "`ufw` has nothing to do; give `rule`, `default`, `logging` or `state`"},
		{"ufw", args{"rule": "allow", "interface": "eth 0", "port": "-1"}, "`interface` needs `direction`; or give `interface_in` or `interface_out`\n`interface` has blanks, or begins with a hyphen: \"eth 0\"\n`to_port` has blanks, or begins with a hyphen: \"-1\""},
		{"ufw", args{"default": "deny", "direction": "in"}, "`direction` of `default` must be incoming, outgoing or routed"},
		{"rpm_key", args{"key": "x.asc", "fingerprint": "12"}, "`fingerprint` must be 40 hex digits, found \"12\"\n`key` must be a URL, an absolute path or the id of a key, found \"x.asc\""},
		{"seboolean", args{"name": "-x", "state": true}, "`name` must be a boolean like httpd_can_network_connect, found \"-x\""},
		{"npm", args{"state": "absent", "version": "-1"}, "`npm` needs `path`; or `global: true`\n`version` cannot begin with a hyphen"},
		{"npm", args{"global": true, "version": "1"}, "`version` needs `name`"},
		{"docker_container", args{"name": "a", "state": "present"}, "`state: present` needs `image`"},
		{"docker_container", args{"name": "a", "ports": []any{"x:80", "all", "1-2:80-82"}}, "`published_ports` has \"x:80\", which is not like 8080:80 or 127.0.0.1:8080:80/tcp\n`published_ports` cannot be all; use `publish_all_ports: true`\n`published_ports` has \"1-2:80-82\": the ranges are not of the same size"},
		{"docker_container", args{"name": "a", "env": map[string]any{"A": true, "B C": "x"}}, "`env.A` must be text, found true; put it into quotes\n`env` has \"B C\", which is not the name of a variable"},
		{"docker_container", args{"name": "a", "memory": "64Mb", "cpus": "many"}, "`memory` must be a size like 512M, found \"64Mb\"\n`cpus` must be a number, found \"many\""},
		{"docker_container", args{"name": "a", "volumes": []any{"/a:ro", "/a:/b:rx", "/c:/d", "/d"}}, "`volumes` has \"/a:ro\": an anonymous volume cannot have a mode; create it with `docker_volume`, and give its name\n`volumes` has \"/a:/b:rx\", which is not like SOURCE:TARGET:ro\n/d is mounted to twice, in `volumes` and in `volumes`"},
		{"docker_container", args{"name": "a", "mounts": []any{map[string]any{"target": "/a", "type": "bind", "no_copy": true}}}, "the mount /a of type bind needs `source`\nthe mount /a is of type bind; `no_copy` is for type volume"},
		{"docker_container", args{"name": "a", "comparisons": map[string]any{"*": "allow_more_present", "name": "strict", "hostname": "allow_more_present", "ports": "x"}}, "`*` in `comparisons` can be strict or ignore, found \"allow_more_present\"\n`hostname` is a single value, and cannot have more; write strict or ignore\n`comparisons` has \"name\", which containers are not compared by\n`comparisons.ports` must be strict, ignore or allow_more_present, found \"x\""},
		{"docker_container", args{"name": "a", "security_opts": []any{"seccomp={}"}, "device_requests": []any{map[string]any{"capabilities": []any{[]any{"x"}}}}}, "a profile for seccomp is not supported yet; use `command: docker run --security-opt …`\n`device_requests` is supported for capabilities: [[gpu]] only; use `command: docker run …`"},
		{"docker_container", args{"name": "a", "healthcheck": map[string]any{"test": []any{"curl"}, "interval": "5"}}, "`healthcheck.test` must be a line, or a list that begins with CMD, CMD-SHELL or NONE\na duration of `healthcheck` must be like 1m30s, found \"5\""},
		{"docker_container", args{"name": "a", "timeout": 5, "tls_hostname": "x"}, "`docker_container` does not support `timeout` yet; use the `timeout` of the step\n`docker_container` does not support `tls_hostname` yet; give a `docker_host` by the name in its certificate"},
		{"docker_image", args{"name": "a"}, "`state: present` needs `source`"},
		{"docker_image", args{"name": "a", "source": "build", "tag": "a/b"}, "`tag` cannot be \"a/b\"\n`source: build` needs `build`"},
		{"docker_login", args{"username": "a", "config_path": "/a/b"}, "`docker_login` needs `username` and `password`, or `state: absent`\n`config_path` must end in config.json, since docker takes a directory"},
		{"docker_network", args{"name": "a", "ipam_config": []any{map[string]any{"subnet": "x", "mask": 1}}, "client_key": "/k"}, "`client_cert` and `client_key` need each other\n`docker_network` has no field `ipam_config.0.mask`; it has subnet, iprange, gateway, aux_addresses\n`subnet` must be like 172.16.0.0/24, found \"x\""},
		{"iptables", args{"jump": "ACCEPT", "log_prefix": "x", "flush": false}, "`log_prefix` and `log_level` are for `jump: LOG`; log in a rule of its own\n`iptables` needs `chain`, or `flush: true`"},
		{"iptables", args{"chain": "a", "state": "absent"}, "`state: absent` has no rule to remove; with `chain_management: true` it removes the chain"},
		{"iptables", args{"chain": "a", "flush": true, "policy": "DROP", "jump": "TEE", "set_dscp_mark": 1, "set_dscp_mark_class": "x"}, "`flush` and `policy` exclude each other; make two steps\n`set_dscp_mark` and `set_dscp_mark_class` exclude each other\n`jump: TEE` needs `gateway`"},
		{"firewalld", args{"state": "enabled"}, "`state: enabled` does not say what; give `service`, `port` or another"},
		{"firewalld", args{"state": "absent", "port": "80"}, "`state: absent` is for a zone; write `enabled` or `disabled`"},
		{"firewalld", args{"state": "enabled", "masquerade": "x", "permanent": true}, "`masquerade` must be true or false, found \"x\""},
		{"firewalld", args{"state": "present", "zone": "a"}, "`state: present` needs `permanent: true` without `immediate: true`"},
		{"deb822_repository", args{"name": "--", "types": "rpm", "uris": "a\nb"}, "`name` needs letters or digits, found \"--\"\n`types` must be deb or deb-src, found \"rpm\"\n`uris` has a line break"},
		{"dpkg_selections", args{"name": "-x", "selection": "hold"}, "`name` has \"-x\", which is not a package name"},
		{"service", args{"scope": "user"}, "`service` has nothing to do; give `name` with `state` or `enabled`"},
		{"service", args{"state": "started"}, "`service` needs `name`"},
		{"service", args{"name": "../x", "state": "started"}, "`name` has \"../x\", which is not a service name"},
		{"systemd", args{"name": "x", "state": "started", "scope": "global"}, "`state` does not go with `scope: global`; a service runs for one user: scope: user"},
		{"service", args{"name": "x", "state": "started", "sleep": 1, "arguments": "'"}, "`sleep` goes with `state: restarted` only\n" +
			"`arguments` has a quote ' that is not closed"},
	}
	for _, tt := range tests {
		a, _ := spec.Lookup(tt.action)
		_, problems := a.Decode(tt.in)
		var got []string
		for _, p := range problems {
			got = append(got, p.String())
		}
		if s := strings.Join(got, "\n"); s != tt.want {
			t.Errorf("%s %v:\ngot  %s\nwant %s", tt.action, tt.in, s, tt.want)
		}
	}
}

func TestResolveScript(t *testing.T) {
	for line, want := range map[string]string{
		"a.sh":                         "/dir/a.sh",
		" a.sh  --x 'y  z' \"$HOME\" ": "/dir/a.sh --x 'y  z' \"$HOME\"",
		"'a b.sh' x":                   "'/dir/a b.sh' x",
		`a\ b.sh x`:                    "'/dir/a b.sh' x",
		`"it's.sh"`:                    `'/dir/it'\''s.sh'`,
		"a.sh\n  --x":                  "/dir/a.sh --x",
		"'open":                        "'open",
		"":                             "",
	} {
		if got := spec.ResolveScript(line, func(path string) string { return "/dir/" + path }); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
}

func TestSysctlKey(t *testing.T) {
	for name, want := range map[string]string{
		"net.ipv4.ip_forward": "net/ipv4/ip_forward", "net.ipv4.conf.eth0/100.forwarding": "net/ipv4/conf/eth0.100/forwarding",
		"net/ipv4/conf/eth0.100/forwarding": "net/ipv4/conf/eth0.100/forwarding", "kernel": "kernel",
	} {
		if got := spec.SysctlKey(name); got != want {
			t.Errorf("%s is at %s, want %s", name, got, want)
		}
	}
}

func TestShownURL(t *testing.T) {
	for url, want := range map[string]string{
		"https://ann:x@h/p": "https://h/p", "https://token@h/p": "https://h/p", "ssh://git@h/p": "ssh://git@h/p", "ssh://git:x@h/p": "ssh://h/p",
		"git@h:p": "git@h:p", "/p": "/p", "https://h/p@q": "https://h/p@q", "https://h/p": "https://h/p",
	} {
		if got := spec.ShownURL(url); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
}

func TestMode(t *testing.T) {
	tests := []struct {
		text  string
		from  uint32
		dir   bool
		umask uint32
		want  uint32
	}{
		{"0644", 0o777, false, 0, 0o644},
		{"644", 0, false, 0o77, 0o644},
		{"0o755", 0, false, 0, 0o755},
		{"1777", 0, true, 0, 0o1777},
		{"04755", 0, false, 0, 0o4755},
		{"u+x", 0o644, false, 0, 0o744},
		{"u+x,g-r,o=", 0o644, false, 0, 0o700},
		{"a=rX", 0o600, false, 0, 0o444},
		{"a=rX", 0o600, true, 0, 0o555},
		{"a+X", 0o644, false, 0, 0o644},
		{"a+X", 0o744, false, 0, 0o755},
		{"+x", 0o644, false, 0o022, 0o755},
		{"+w", 0o444, false, 0o022, 0o644},
		{"g=u", 0o640, false, 0, 0o660},
		{"o=g", 0o640, false, 0, 0o644},
		{"u=rw,go=r", 0o777, false, 0, 0o644},
		{"u+s", 0o755, false, 0, 0o4755},
		{"g+s", 0o755, true, 0, 0o2755},
		{"+t", 0o777, true, 0, 0o1777},
		{"ug+rwx-w", 0o000, false, 0, 0o550},
		{"g=rx", 0o2755, true, 0, 0o2755},
		{"g=rx", 0o2755, false, 0, 0o755},
	}
	for _, tt := range tests {
		m, err := spec.ParseMode(tt.text)
		if err != nil || m.IsZero() || m.String() != tt.text {
			t.Errorf("ParseMode(%q) = %v, %v", tt.text, m, err)
		}
		if got := m.Apply(tt.from, tt.dir, tt.umask); got != tt.want {
			t.Errorf("%s on %04o (dir %v, umask %03o) = %04o, want %04o", tt.text, tt.from, tt.dir, tt.umask, got, tt.want)
		}
	}
	for _, text := range []string{"", "9", "0999", "12345", "u", "x+u", "u+q", "u+x,", "rw-r--r--", "-1"} {
		if m, err := spec.ParseMode(text); err == nil {
			t.Errorf("ParseMode(%q) = %v, want an error", text, m)
		}
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"  a  b\tc\nd ", []string{"a", "b", "c", "d"}},
		{`a 'b c' "d e" f\ g`, []string{"a", "b c", "d e", "f g"}},
		{`'' ""x`, []string{"", "x"}},
		{`"a\"b\\c\d\$e" 'f\g'`, []string{`a"b\c\d$e`, `f\g`}},
		{"a \\\n b", []string{"a", "b"}},
		{`$HOME *.go ~ | # ; &`, []string{"$HOME", "*.go", "~", "|", "#", ";", "&"}},
		{`it's' ok`, []string{"its", "ok"}},
		{"grün 日本", []string{"grün", "日本"}},
	}
	for _, tt := range tests {
		got, err := spec.Words(tt.in)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Words(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{`a 'b`, `"`, `"a\"`} {
		if got, err := spec.Words(in); err == nil {
			t.Errorf("Words(%q) = %q, want an error", in, got)
		}
	}
}

func FuzzMode(f *testing.F) {
	f.Add("u+x,g=rwX", uint32(0o644))
	f.Fuzz(func(t *testing.T, text string, mode uint32) {
		m, err := spec.ParseMode(text)
		if err != nil {
			return
		}
		once := m.Apply(mode&0o7777, true, 0o022)
		if once > 0o7777 {
			t.Errorf("%q gives %o", text, once)
		}
	})
}

// usualTime is how Ansible writes times for `file`.
const usualTime = "%Y%m%d%H%M.%S"

func TestParseTime(t *testing.T) {
	for _, c := range []struct{ text, format, want string }{
		{"202001020304.05", usualTime, "2020-01-02 03:04:05"},
		{"2020-1-2 3:4", "%Y-%m-%d %H:%M", "2020-01-02 03:04:00"},
		{"100% 2020", "100%% %Y", "2020-01-01 00:00:00"},
		{"2024-02-29", "%Y-%m-%d", "2024-02-29 00:00:00"},
		{"2023-02-29", "%Y-%m-%d", ""},
		{"2023-13-01", "%Y-%m-%d", ""},
		{"202001020304", usualTime, ""},
		{"202001020304.05 ", usualTime, ""},
		{"202001022504.05", usualTime, ""},
		{"1 May", "%d %b", ""},
		{"", usualTime, ""},
	} {
		got, err := spec.ParseTime(c.text, c.format, time.UTC)
		if c.want == "" != (err != nil) || err == nil && got.Format(time.DateTime) != c.want {
			t.Errorf("%q by %q is %v, %v; want %q", c.text, c.format, got, err, c.want)
		}
	}
}
