package exec_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
)

func TestStat(t *testing.T) {
	const sha1Text, md5Text = "aa785adca3fcdfe1884ae840e13c6d294a2414e8", "e1cbb0c3879af8347246f12c559a86b5"
	at := time.Unix(1_700_000_000, 500_000_000)
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		in   args
		want args // of the fields; nil: is not there
	}{
		{
			"a file", touch("f", "text\n", 0o640),
			args{"path": "DIR/f"},
			args{
				"exists": true, "path": "DIR/f", "isreg": true, "isdir": false, "islnk": false, "mode": "0640", "size": 5,
				"rusr": true, "xusr": false, "rgrp": true, "wgrp": false, "roth": false, "isuid": false,
				"uid": os.Getuid(), "gid": os.Getgid(), "mtime": 1_700_000_000.5, "nlink": 1,
				"readable": true, "writeable": true, "executable": false, "lnk_target": nil, "checksum": nil,
			},
		},
		{"the mode of a tool", touch("f", "", 0o755|fs.ModeSetuid), args{"path": "DIR/f"}, args{"mode": "4755", "isuid": true, "isgid": false, "xoth": true, "executable": true}},
		{"nothing", nil, args{"path": "DIR/f"}, args{"exists": false, "path": nil, "isreg": nil}},
		{"below a file", touch("f", "", 0o644), args{"path": "DIR/f/g"}, args{"exists": false}},
		{"a directory", mkdir("d", 0o750), args{"path": "DIR/d"}, args{"exists": true, "isdir": true, "isreg": false, "mode": "0750", "checksum": nil}},
		{"a link", linkTo("f", "l"), args{"path": "DIR/l"}, args{"islnk": true, "isreg": false, "lnk_target": "f", "lnk_source": "DIR/f", "checksum": nil}},
		{"through a link", linkTo("f", "l"), args{"path": "DIR/l", "follow": true}, args{"islnk": false, "isreg": true, "path": "DIR/l", "lnk_target": nil, "size": 1}},
		{"a link to nothing", linkNowhere, args{"path": "DIR/l"}, args{"exists": true, "islnk": true, "lnk_target": "no", "lnk_source": "no"}},
		{"through a link to nothing", linkNowhere, args{"path": "DIR/l", "follow": true}, args{"exists": false}},
		{"a pipe", pipe, args{"path": "DIR/p"}, args{"isfifo": true, "isreg": false, "issock": false, "checksum": nil}},
		{"checksum", touch("f", "text\n", 0o644), args{"path": "DIR/f", "get_checksum": true}, args{"checksum": sha1Text}},
		{"another checksum", touch("f", "text\n", 0o644), args{"path": "DIR/f", "checksum_algo": "md5"}, args{"checksum": md5Text}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.make != nil {
				tt.make(t, dir)
			}
			if tt.name == "a file" {
				if err := os.Chtimes(filepath.Join(dir, "f"), at, at); err != nil {
					t.Fatal(err)
				}
				tt.in["get_checksum"] = false
			}
			before := snapshot(t, dir)
			in := paths(dir, tt.in)
			r := run(t, newJob(t, "stat", in))
			want(t, r, events.OK, "")
			got, _ := r.Fields["stat"].(args)
			for name, w := range paths(dir, tt.want) {
				if got[name] != w {
					t.Errorf("%s = %v, want %v", name, got[name], w)
				}
			}
			dry := exec.DryRun{}.Run(t.Context(), newJob(t, "stat", in))
			seen, _ := dry.Fields["stat"].(args)
			if !maps.Equal(seen, got) || dry.Outcome != r.Outcome {
				t.Errorf("a dry run says %v, %v", dry.Outcome, dry.Fields)
			}
			if snapshot(t, dir) != before {
				t.Error("it changed something")
			}
		})
	}
}

func linkNowhere(t *testing.T, dir string) {
	t.Helper()
	if err := os.Symlink("no", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
}

func TestStatFails(t *testing.T) {
	r := run(t, newJob(t, "stat", args{"path": "/" + strings.Repeat("x", 300)}))
	want(t, r, events.Failed, "file name too long")
}
