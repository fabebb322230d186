package action_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

func TestStat(t *testing.T) {
	const sha1Text, md5Text = "aa785adca3fcdfe1884ae840e13c6d294a2414e8", "e1cbb0c3879af8347246f12c559a86b5"
	at := time.Unix(1_700_000_000, 500_000_000)
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		in   exectest.Args
		want exectest.Args // of the fields; nil: is not there
	}{
		{
			"a file", exectest.MakeFile("f", "text\n", 0o640),
			exectest.Args{"path": "DIR/f"},
			exectest.Args{
				"exists": true, "path": "DIR/f", "isreg": true, "isdir": false, "islnk": false, "mode": "0640", "size": 5,
				"rusr": true, "xusr": false, "rgrp": true, "wgrp": false, "roth": false, "isuid": false,
				"uid": os.Getuid(), "gid": os.Getgid(), "mtime": 1_700_000_000.5, "nlink": 1,
				"readable": true, "writeable": true, "executable": false, "lnk_target": nil, "checksum": nil,
			},
		},
		{"the mode of a tool", exectest.MakeFile("f", "", 0o755|fs.ModeSetuid), exectest.Args{"path": "DIR/f"}, exectest.Args{"mode": "4755", "isuid": true, "isgid": false, "xoth": true, "executable": true}},
		{"nothing", nil, exectest.Args{"path": "DIR/f"}, exectest.Args{"exists": false, "path": nil, "isreg": nil}},
		{"below a file", exectest.MakeFile("f", "", 0o644), exectest.Args{"path": "DIR/f/g"}, exectest.Args{"exists": false}},
		{"a directory", exectest.MakeDir("d", 0o750), exectest.Args{"path": "DIR/d"}, exectest.Args{"exists": true, "isdir": true, "isreg": false, "mode": "0750", "checksum": nil}},
		{"a link", linkTo("f", "l"), exectest.Args{"path": "DIR/l"}, exectest.Args{"islnk": true, "isreg": false, "lnk_target": "f", "lnk_source": "DIR/f", "checksum": nil}},
		{"through a link", linkTo("f", "l"), exectest.Args{"path": "DIR/l", "follow": true}, exectest.Args{"islnk": false, "isreg": true, "path": "DIR/l", "lnk_target": nil, "size": 1}},
		{"a link to nothing", linkNowhere, exectest.Args{"path": "DIR/l"}, exectest.Args{"exists": true, "islnk": true, "lnk_target": "no", "lnk_source": "no"}},
		{"through a link to nothing", linkNowhere, exectest.Args{"path": "DIR/l", "follow": true}, exectest.Args{"exists": false}},
		{"a pipe", exectest.MakePipe, exectest.Args{"path": "DIR/p"}, exectest.Args{"isfifo": true, "isreg": false, "issock": false, "checksum": nil}},
		{"checksum", exectest.MakeFile("f", "text\n", 0o644), exectest.Args{"path": "DIR/f", "get_checksum": true}, exectest.Args{"checksum": sha1Text}},
		{"another checksum", exectest.MakeFile("f", "text\n", 0o644), exectest.Args{"path": "DIR/f", "checksum_algo": "md5"}, exectest.Args{"checksum": md5Text}},
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
			r := exectest.RunJob(t, exectest.NewJob(t, "stat", in))
			exectest.WantOutcome(t, r, events.OK, "")
			got, _ := r.Fields["stat"].(exectest.Args)
			for name, w := range paths(dir, tt.want) {
				if got[name] != w {
					t.Errorf("%s = %v, want %v", name, got[name], w)
				}
			}
			dry := exec.DryRun{}.Run(t.Context(), exectest.NewJob(t, "stat", in))
			seen, _ := dry.Fields["stat"].(exectest.Args)
			if !reflect.DeepEqual(seen, got) || dry.Outcome != r.Outcome {
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
	r := exectest.RunJob(t, exectest.NewJob(t, "stat", exectest.Args{"path": "/" + strings.Repeat("x", 300)}))
	exectest.WantOutcome(t, r, events.Failed, "file name too long")
}
